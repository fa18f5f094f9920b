"""Where results go: a table for people, JSON or CSV for programs; and what a terminal shows while a call runs."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from dataaccess._display.grid import columns_of, fitted
from dataaccess._display.text import cell, counted, escaped
from dataaccess.cli.ending import CommandError, as_dict
from dataaccess.cli.streams import is_quiet, note, style
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dataaccess import Table
    from dataaccess._display.grid import Column

# Rows that a terminal shows, and characters of a value before it is fitted.
_SHOWN = 40
MOST = 1_000
# Columns of the reason of a retry.
_REASON = 200
# A bar is drawn again below the line.
_CLEAR = "\r\x1b[K"


def is_terminal() -> bool:
    """Whether people read standard output."""
    return sys.stdout.isatty()


def tell(text: str) -> None:
    """A line for people, and for the log of a job."""
    if not is_quiet():
        note(text)


def progress() -> bool | None:
    """`progress=` of calls: a bar in a terminal, if it is wanted."""
    return False if is_quiet() else None


def write_table(table: Table) -> None:
    """Writes the first rows."""
    rows = table.head(_SHOWN).to_pylist()
    count = counted(table.num_rows, "row")
    summary = f"{count}; the first {_SHOWN} are shown" if table.num_rows > _SHOWN else count
    columns = columns_of(table.schema, rows, has_types=False, most=MOST) if rows else []
    write_grid(columns, summary, is_cut=table.num_rows > _SHOWN)


def write_grid(columns: Sequence[Column], summary: str, *, is_cut: bool = False) -> None:
    """Writes columns as wide as the terminal. The line below says what they are, and how to see what is left out."""
    shown = fitted(columns, get_terminal_size().columns, partial(style, bold=True)) if columns else None
    if shown is not None:
        click.echo("\n".join(shown.lines))
        if shown.left_out:
            summary, is_cut = f"{summary}; columns that do not fit: {', '.join(shown.left_out)}", True
    click.echo(style(f"{summary} (--json writes all)" if is_cut else summary, dim=True))


def write_json(value: Any) -> None:
    """Writes one JSON document: with line breaks for people, in one line for programs."""
    if is_terminal():
        click.echo(_escaped(json.dumps(value, ensure_ascii=False, indent=2, default=str), in_json))
    else:
        click.echo(json.dumps(value, ensure_ascii=False, default=str))


@contextmanager
def reported(*, as_json: bool) -> Iterator[None]:
    """Prints a report of a failure too."""
    try:
        yield
    except (CommandError, DataAccessError) as error:
        if as_json:
            write_json(as_dict({} if error.report is None else error.report.to_dict(), error))
        raise


@contextmanager
def binary_stdout(escape: Callable[[str], str] | None = None) -> Iterator[Any]:
    """Standard output for bytes. A terminal gets escapes in place of what it would act on."""
    sys.stdout.flush()
    if escape is None or not is_terminal():
        yield sys.stdout.buffer
    else:
        rows = io.BytesIO()
        yield rows
        sys.stdout.buffer.write(_escaped(rows.getvalue().decode("utf-8", "replace"), escape).encode())
    sys.stdout.buffer.flush()


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    """Escapes each line for a terminal."""
    return "\n".join(escaped(line, escape) for line in text.split("\n"))


def in_json(character: str) -> str:
    """The escape of JSON, in two halves beyond the first 65,536 characters."""
    halves = character.encode("utf-16-be")
    return "".join(f"\\u{halves[start : start + 2].hex()}" for start in range(0, len(halves), 2))


class _Retries(logging.Handler):
    """Prints why a request is retried: until a service responds there is no bar."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a line."""
        fields = record.__dict__
        note(f"{_CLEAR}retry in {fields['delay']:.1f} s: {cell(fields['detail'], _REASON)}")


@contextmanager
def logged(name: str, handler: logging.Handler, level: int) -> Iterator[None]:
    """Passes the records of a logger to a handler."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(level)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def retries_shown() -> AbstractContextManager[None]:
    """Prints a line for each retry, if standard error is a terminal."""
    logger = logging.getLogger("dataaccess.retry")
    is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not is_quiet()
    # `--verbose` prints all records.
    if not is_shown or logger.isEnabledFor(logging.DEBUG):
        return nullcontext()
    return logged(logger.name, _Retries(), logger.level)
