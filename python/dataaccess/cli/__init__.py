"""The command `dataaccess`. Each subcommand is a module of this package.

It needs the standard library only.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from dataaccess._native import VERSION
from dataaccess.cli import sandbox
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: The arguments after the name of the command; None takes those of this process.

    Returns:
        The exit code: 0, or 1 after an error, which is printed in one line.
    """
    given = parser().parse_args(arguments)
    try:
        code: int = given.run(given)
    except DataAccessError as error:
        print(f"dataaccess: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # The reader closed the pipe on purpose. Python must not flush to it again at exit.
        if not isinstance(error, BrokenPipeError):
            print(f"dataaccess: the output could not be written: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of the command."""
    parser = argparse.ArgumentParser(
        prog="dataaccess",
        description="Items and segment exports of a customer data platform.",
    )
    parser.add_argument("--version", action="version", version=f"dataaccess {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    sandbox.add_to(commands)
    return parser
