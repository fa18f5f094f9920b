"""Standard output and error: tables for people, JSON for programs, lines; also streams that are closed or full."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from dataaccess._display.grid import columns_of, fitted
from dataaccess._display.text import counted, escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dataaccess import Table
    from dataaccess._display.grid import Column

# Rows that a terminal shows, and characters of a value before it is fitted.
_SHOWN = 40
MOST = 1_000


def silence(name: str) -> None:
    """Sends a stream that cannot be written to /dev/null, so that Python does not fail to flush it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, getattr(sys, name).fileno())
    os.close(null)


def keep(context: click.Context, parameter: click.Parameter, is_given: bool) -> None:
    """Keeps `--json` or `--quiet` for `wants`."""
    context.meta[f"dataaccess.{parameter.name}"] = is_given


def wants(name: str) -> bool:
    """Whether `--json` or `--quiet` is given: rows or a report as JSON; neither progress nor notes."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(f"dataaccess.{name}"))


def note(text: str) -> None:
    """Writes to standard error. A message that cannot be written is dropped: it must not decide the outcome."""
    try:
        click.echo(text, err=True)
    except OSError:
        silence("stderr")


def is_terminal() -> bool:
    """Whether people read standard output."""
    return sys.stdout.isatty()


def tell(text: str) -> None:
    """A line for people, and for the log of a job."""
    if not wants("quiet"):
        note(text)


def progress() -> bool | None:
    """`progress=` of calls: a bar in a terminal, if it is wanted."""
    return False if wants("quiet") else None


def write_table(table: Table) -> None:
    """Writes the first rows."""
    rows = table.head(_SHOWN).to_pylist()
    count = counted(table.num_rows, "row")
    summary = f"{count}; the first {_SHOWN} are shown" if table.num_rows > _SHOWN else count
    columns = columns_of(table.schema, rows, has_types=False, most=MOST) if rows else []
    write_grid(columns, summary, is_cut=table.num_rows > _SHOWN)


def write_grid(columns: Sequence[Column], summary: str, *, is_cut: bool = False) -> None:
    """Writes columns as wide as the terminal. The line below says what they are, and how to see what is left out."""
    shown = fitted(columns, get_terminal_size().columns, partial(click.style, bold=True)) if columns else None
    if shown is not None:
        click.echo("\n".join(shown.lines))
        if shown.left_out:
            summary, is_cut = f"{summary}; columns that do not fit: {', '.join(shown.left_out)}", True
    click.echo(click.style(f"{summary} (--json writes all)" if is_cut else summary, dim=True))


def write_json(value: Any) -> None:
    """Writes one JSON document: with line breaks for people, in one line for programs."""
    text = json.dumps(value, ensure_ascii=False, indent=2 if is_terminal() else None, default=str)
    click.echo(_escaped(text, in_json) if is_terminal() else text)


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
    return json.dumps(character)[1:-1]
