"""Where results go: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli.parts import all_of, option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess import Scan

_SECTION = "Output"

# Rows that a terminal shows.
_SHOWN = 40

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
    from dataaccess.cli.grid import grid

    click.echo(grid(table.schema, table.head(_SHOWN).to_pylist(), table.num_rows))


def write_json(value: Any) -> None:
    """Writes one JSON document: with line breaks for people, in one line for programs."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2 if is_terminal() else None, default=str))


@contextmanager
def binary_stdout() -> Iterator[Any]:
    """Standard output for bytes."""
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
