"""The command `dataaccess`. Each subcommand is a module of this package, loaded when it is used.

It needs click (extra `cli`); this module alone can be imported without it. A new command is a module with an object
`command`, a line in `application.COMMANDS`, and a row on the page docs/command-line.md.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: The arguments after the name of the command; None takes those of this process.

    Returns:
        The exit code; docs/command-line.md lists them.
    """
    _open_missing()
    try:
        from dataaccess.cli.application import run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("dataaccess: the command needs click: pip install click\n")
        return 2
    except KeyboardInterrupt:
        # Ctrl-C while the modules load.
        return _INTERRUPTED
    return run(sys.argv[1:] if arguments is None else arguments)


def _open_missing() -> None:
    """Opens /dev/null for each stream that the caller has closed, as `>&-` does.

    Else the next file that is opened would get the descriptor of standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free descriptor is this stream's.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
