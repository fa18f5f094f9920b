"""Where results go: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli.parts import all_of, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataaccess import Scan
    from dataaccess._display.grid import Column

_SECTION = "Output"

# Rows that a terminal shows, and characters of a value before it is fitted.
_SHOWN = 40
MOST = 1_000

FORMS = all_of(
    [
        option("--json", "as_json", is_flag=True, section=_SECTION, help="JSON lines; the default without a terminal."),
        option("--csv", "as_csv", is_flag=True, section=_SECTION, help="CSV with a line of names."),
    ]
)
JSON = option("--json", "as_json", is_flag=True, section=_SECTION, help="JSON; the default without a terminal.")


def is_terminal() -> bool:
    """Whether people read standard output."""
    return sys.stdout.isatty()


def check_forms(*, as_json: bool, as_csv: bool) -> None:
    """Refuses two forms at once."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other: leave one out")


def write_rows(scan: Scan, *, as_json: bool, as_csv: bool) -> None:
    """Writes the rows of a scan to standard output, once all have arrived."""
    from dataaccess.cli.progress import progress

    with progress() as shown:
        if as_csv:
            with binary_stdout() as file:
                scan.to_csv(file, **shown)
            return
        if as_json or not is_terminal():
            with binary_stdout() as file:
                scan.to_jsonl(file, **shown)
            return
        table = scan.collect(**shown)
    from dataaccess._display.grid import columns_of
    from dataaccess._display.text import counted

    rows = table.head(_SHOWN).to_pylist()
    count = counted(table.num_rows, "row")
    summary = f"{count}; the first {_SHOWN} are shown" if table.num_rows > _SHOWN else count
    columns = columns_of(table.schema, rows, has_types=False, most=MOST) if rows else []
    write_grid(columns, summary, advice="--json or --csv writes all", is_cut=table.num_rows > _SHOWN)


def write_grid(columns: Sequence[Column], summary: str, *, advice: str, is_cut: bool = False) -> None:
    """Writes columns as wide as the terminal. The line below says what they are, and how to see what is left out."""
    from dataaccess._display.grid import fitted
    from dataaccess.cli.colors import style

    shown = fitted(columns, get_terminal_size().columns, partial(style, bold=True)) if columns else None
    if shown is not None:
        click.echo("\n".join(shown.lines))
        if shown.left_out:
            summary, is_cut = f"{summary}; columns that do not fit: {', '.join(shown.left_out)}", True
    click.echo(style(f"{summary} ({advice})" if is_cut else summary, dim=True))


def write_json(value: Any) -> None:
    """Writes one JSON document: with line breaks for people, in one line for programs."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2 if is_terminal() else None, default=str))


@contextmanager
def binary_stdout() -> Iterator[Any]:
    """Standard output for bytes."""
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
