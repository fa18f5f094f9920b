"""The command `dataaccess`: its arguments, and which part of the package each subcommand calls.

It needs the standard library alone. Each subcommand is a module beside this one.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from dataaccess import DataAccessError, __version__
from dataaccess.cli import sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: The words after the command's name; None takes those of this process.

    Returns:
        The exit code: 0, or 1 after an error, which is told in one line.
    """
    given = parser().parse_args(arguments)
    try:
        code: int = given.run(given)
    except DataAccessError as error:
        print(f"dataaccess: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # Whoever has closed the pipe knows; and what could not be written is not tried again on the way out.
        if not isinstance(error, BrokenPipeError):
            print(f"dataaccess: the output could not be written: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def parser() -> argparse.ArgumentParser:
    """What may be written after `dataaccess`."""
    parser = argparse.ArgumentParser(
        prog="dataaccess",
        description="Items and segment exports of a customer data platform.",
    )
    parser.add_argument("--version", action="version", version=f"dataaccess {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    sandbox.add_to(commands)
    return parser
