"""Where results go: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import codecs
import json
import sys
from contextlib import contextmanager
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from dataaccess._display.grid import columns_of, fitted
from dataaccess._display.text import counted, escaped, python_escape
from dataaccess.cli import doubts
from dataaccess.cli.parts import all_of, option
from dataaccess.cli.progress import retries_shown
from dataaccess.cli.streams import style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dataaccess import Scan
    from dataaccess._display.grid import Column

_SECTION = "Output"

# Rows that a terminal shows, and characters of a value before it is fitted.
_SHOWN = 40
MOST = 1_000


def escaping(section: str) -> Callable[[Any], Any]:
    """The option for CSV that people open."""
    advice = "In CSV, put ' before what a spreadsheet would run as a formula."
    return option("--escape-formulas", is_flag=True, section=section, help=advice)


FORMS = all_of(
    [
        option("--json", "as_json", is_flag=True, section=_SECTION, help="JSON lines; the default without a terminal."),
        option("--csv", "as_csv", is_flag=True, section=_SECTION, help="CSV with a line of names."),
        escaping(_SECTION),
        doubts.options(_SECTION),
    ]
)
JSON = option("--json", "as_json", is_flag=True, section=_SECTION, help="JSON; the default without a terminal.")


def is_terminal() -> bool:
    """Whether people read standard output."""
    return sys.stdout.isatty()


def check_forms(*, as_json: bool, as_csv: bool, escape_formulas: bool, **_: bool) -> None:
    """Refuses options that do not fit each other."""
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other: leave one out")
    if escape_formulas and not as_csv:
        raise click.UsageError("--escape-formulas is for CSV: add --csv, or leave it out")


def write_rows(
    scan: Scan, *, as_json: bool, as_csv: bool, escape_formulas: bool, strict: bool, fail_empty: bool
) -> None:
    """Writes the rows of a scan to standard output, once all have arrived."""
    judge = doubts.Doubts(strict, fail_empty)
    with retries_shown(), judge.judged():
        if as_csv:
            with binary_stdout(python_escape) as file:
                scan.to_csv(file, escape_formulas=escape_formulas, on_doubt=judge.accept)
            return
        if as_json or not is_terminal():
            with binary_stdout(_in_json) as file:
                scan.to_jsonl(file, on_doubt=judge.accept)
            return
        table = scan.collect()
        judge.check_rows(table.num_rows)
    rows = table.head(_SHOWN).to_pylist()
    count = counted(table.num_rows, "row")
    summary = f"{count}; the first {_SHOWN} are shown" if table.num_rows > _SHOWN else count
    columns = columns_of(table.schema, rows, has_types=False, most=MOST) if rows else []
    write_grid(columns, summary, advice="--json or --csv writes all", is_cut=table.num_rows > _SHOWN)


def write_grid(columns: Sequence[Column], summary: str, *, advice: str, is_cut: bool = False) -> None:
    """Writes columns as wide as the terminal. The line below says what they are, and how to see what is left out."""
    shown = fitted(columns, get_terminal_size().columns, partial(style, bold=True)) if columns else None
    if shown is not None:
        click.echo("\n".join(shown.lines))
        if shown.left_out:
            summary, is_cut = f"{summary}; columns that do not fit: {', '.join(shown.left_out)}", True
    click.echo(style(f"{summary} ({advice})" if is_cut else summary, dim=True))


def write_json(value: Any) -> None:
    """Writes one JSON document: with line breaks for people, in one line for programs."""
    if is_terminal():
        click.echo(_escaped(json.dumps(value, ensure_ascii=False, indent=2, default=str), _in_json))
    else:
        click.echo(json.dumps(value, ensure_ascii=False, default=str))


@contextmanager
def binary_stdout(escape: Callable[[str], str] | None = None) -> Iterator[Any]:
    """Standard output for bytes. A terminal gets escapes in place of what it would act on."""
    sys.stdout.flush()
    yield sys.stdout.buffer if escape is None or not is_terminal() else _Terminal(sys.stdout.buffer, escape)
    sys.stdout.buffer.flush()


class _Terminal:
    """A terminal that takes bytes of UTF-8, cut anywhere."""

    def __init__(self, file: Any, escape: Callable[[str], str]) -> None:
        """Takes the file, and the escape of a character."""
        self._file, self._escape = file, escape
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, piece: bytes | memoryview) -> int:
        """Writes a piece; a character that it cuts comes with the next one."""
        text = self._decoder.decode(bytes(piece))
        self._file.write(_escaped(text, self._escape).encode())
        return len(piece)


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    """Escapes each line for a terminal."""
    return "\n".join(escaped(line, escape) for line in text.split("\n"))


def _in_json(character: str) -> str:
    """The escape of JSON, in two halves beyond the first 65,536 characters."""
    halves = character.encode("utf-16-be")
    return "".join(f"\\u{halves[start : start + 2].hex()}" for start in range(0, len(halves), 2))
