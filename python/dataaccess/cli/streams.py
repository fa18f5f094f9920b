"""Standard input, output and error of the command: also where they are closed or full, and colors."""

from __future__ import annotations

import os
import sys
from typing import Any

# Whether `--quiet` is given, in `meta` of the context of click.
QUIET = "dataaccess.quiet"


def open_missing() -> None:
    """Opens /dev/null in place of streams that the caller has closed, as `>&-` does.

    Else the next file that is opened would get the descriptor of standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free descriptor: that of this stream.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end


def silence(name: str) -> None:
    """Sends a stream that cannot be written to /dev/null, so that Python does not fail to flush it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, getattr(sys, name).fileno())
    os.close(null)


def is_quiet() -> bool:
    """Whether progress and notes are not wanted."""
    import click

    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def note(text: str) -> None:
    """Writes to standard error. A message that cannot be written is dropped: it must not decide the outcome."""
    import click

    try:
        click.echo(text, err=True)
    except OSError:
        silence("stderr")


def style(text: str, **how: Any) -> str:
    """The text in a style, if standard output is a terminal that shows it, and `NO_COLOR` is not set."""
    import click

    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if is_plain or not any(how.values()) else click.style(text, **how)
