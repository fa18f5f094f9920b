"""Where the rows of `codes` and `items` go: a terminal, a pipe, a file, or a folder that can be resumed.

What is wrong with it is found before anything is sent.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dataaccess._display.text import open_text, python_escape, size
from dataaccess.cli import output
from dataaccess.cli.ending import DOUBTFUL, FAILED, CommandError, as_dict, reported, signaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess import FolderReport, Scan
    from dataaccess._types import OnDoubt
    from dataaccess.cli.options import Connect


def write(
    scan_of: Callable[..., Scan],
    connect: Connect,
    *,
    path: str | None,
    folder: str | None,
    kind: str | None,
    explain: bool,
    strict: bool,
    fail_empty: bool,
    schema: list[tuple[str, str]],
    on_suspected_cap: bool,
    limit: int | None,
    **run: Any,
) -> None:
    """Writes the rows of the scan that a client and the arguments of all scans make, or explains it."""
    if folder is not None and limit is not None:
        raise click.UsageError("--folder holds all rows of its requests: leave out --limit")
    file = None if path == "-" else path
    kind = _kind_of(file, folder, kind, run, is_written=not explain)
    client = connect(is_used=not explain)
    on_cap = "split" if on_suspected_cap else "warn"
    scan = scan_of(client, schema=dict(schema) or None, on_suspected_cap=on_cap, limit=limit)
    if explain:
        _explain(scan, {} if run["settle"] is None else {"settle": run["settle"]})
        return
    judge = _Judge(strict, fail_empty)
    if folder is not None:
        with reported():
            _into_folder(scan, folder, run, judge)
    elif file is not None:
        with reported():
            _into_file(scan, file, kind, judge)
    else:
        _to_stdout(scan, kind, judge)


def _kind_of(file: str | None, folder: str | None, kind: str | None, run: dict[str, Any], *, is_written: bool) -> str:
    """The format of the rows, if the options fit each other. A terminal gets a `table`."""
    if folder is not None:
        if file is not None or kind not in (None, "parquet"):
            raise click.UsageError("--folder holds Parquet files: leave out --output and --format")
        if os.path.isfile(os.path.expanduser(folder)):  # noqa: PTH111, PTH113 - it may be a URL, which is no path
            message = f"--folder: {folder!r} is a file: name a folder, or write the file with --output"
            raise CommandError(message, FAILED)
        return "parquet"
    if unused := [f"--{name.replace('_', '-')}" for name, value in run.items() if value]:
        raise click.UsageError(f"{', '.join(unused)}: only with --folder")
    if file is not None:
        return _kind_of_file(file, kind)
    if output.wants("json") and kind not in (None, "jsonl") and is_written:
        raise click.UsageError(f"--json and --format {kind} exclude each other without a file: leave one out")
    if kind == "parquet" and is_written and output.is_terminal():
        raise click.UsageError("Parquet is no text for a terminal: write --output FILE, or pipe it into a program")
    return kind or ("table" if output.is_terminal() and not output.wants("json") else "jsonl")


def _kind_of_file(file: str, kind: str | None) -> str:
    from dataaccess._core.paths import location  # loads the core
    from dataaccess._scan.files import FORMATS, format_of, known_suffixes, not_written

    path = location("path", file, None)
    chosen = kind or format_of(path)
    # The folder of a run has its parts, or folders `day=…` of them. A URL is in none.
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - it may be a URL, which is no path
    around = [one for one in (folder, os.path.dirname(folder)) if os.path.isdir(f"{one}/.dataaccess")]  # noqa: PTH112, PTH120
    if os.path.isdir(path):  # noqa: PTH112 - likewise
        problem: str | None = f"is a folder: name a file, or write --folder {file}"
    elif around:
        problem = f"is in {around[0]}, the folder of a run, which holds no other files: name a file elsewhere"
    elif chosen is None:
        problem = f"has none of the suffixes {known_suffixes(*FORMATS)}: add one, or --format"
    else:
        problem = not_written(path, chosen, f"--format {chosen}")
    if problem or chosen is None:
        raise click.UsageError(f"--output {file!r} {problem}")
    return chosen


def _explain(scan: Scan, settle: dict[str, Any]) -> None:
    """Prints the plan and the first request, or all requests as JSON lines."""
    bodies = [request["body"] for request in scan.requests()]
    if output.wants("json"):
        for body in bodies:
            click.echo(json.dumps(body, ensure_ascii=False))
        return
    click.echo(scan.explain(**settle))
    more = f" (--json prints all {len(bodies):,})" if len(bodies) > 1 else ""
    click.echo(f"\nPOST{more}\n{json.dumps(bodies[0], ensure_ascii=False)}")


def _into_folder(scan: Scan, folder: str, run: dict[str, Any], judge: _Judge) -> None:
    chosen = {name: value for name, value in run.items() if value not in (None, ())}
    try:
        report = scan.to_folder(folder, progress=output.progress(), on_doubt=judge.of_run, **chosen)
    except KeyboardInterrupt as error:
        message, code = signaled(error)
        raise CommandError(f"{message}: finished tasks are kept in {folder}; the same command resumes", code) from None
    judge.check_report(report)
    if report.open_days:
        output.tell(f"{report.folder}: {open_text(report.open_days)}")
    if output.wants("json"):
        output.write_json(as_dict(report.to_dict()))
    else:
        output.tell(f"{report.folder}: {str(report).partition(chr(10))[0]}, in {report.seconds:.1f} s")


def _into_file(scan: Scan, file: str, kind: str, judge: _Judge) -> None:
    getattr(scan, f"to_{kind}")(file, on_doubt=judge.of_scan, progress=output.progress())
    stats: Any = scan.last_stats
    if output.wants("json"):
        names = ("rows", "bytes", "seconds", "requests", "retries", "maybe_capped", "warnings")
        output.write_json(as_dict({"file": file, **{name: getattr(stats, name) for name in names}}))
    else:
        output.tell(f"{file}: {stats.rows:,} rows, {size(stats.bytes)} in {stats.seconds:.1f} s")


def _to_stdout(scan: Scan, kind: str, judge: _Judge) -> None:
    """Writes the rows once all have arrived."""
    if kind != "table":
        escape = {"jsonl": output.in_json, "csv": python_escape}.get(kind)
        with output.binary_stdout(escape) as stdout:
            getattr(scan, f"to_{kind}")(stdout, on_doubt=judge.of_scan, progress=output.progress())
        return
    table = scan.collect(progress=output.progress())
    judge.accept(scan.last_stats)
    output.write_table(table)


@dataclass(frozen=True, slots=True)
class _Judge:
    """`--strict` and `--fail-empty`: a result that looks wrong replaces nothing, and ends the command with 65."""

    strict: bool
    fail_empty: bool

    @property
    def of_scan(self) -> OnDoubt:
        """`on_doubt=` of a scan."""
        return "error" if self.strict and not self.fail_empty else self.accept

    @property
    def of_run(self) -> OnDoubt:
        """`on_doubt=` of a run. Its files are judged one by one."""
        if self.fail_empty:
            return lambda file: file.rows > 0 and not (self.strict and file.doubts)
        return "error" if self.strict else "warn"

    def check_report(self, report: FolderReport) -> None:
        """Refuses a run that has no rows, or whose tasks together look wrong."""
        if self.fail_empty and not report.rows:
            raise CommandError(f"{report.folder} has no rows of this scan", DOUBTFUL, report)
        if self.strict and report.warnings:
            raise CommandError(f"{report.folder} has its files, but {'; '.join(report.warnings)}", DOUBTFUL, report)

    def accept(self, stats: Any) -> bool:
        """Refuses a result without rows, or one that looks wrong."""
        problems = stats.warnings if self.strict else []
        problems = ["the result has no rows"] if self.fail_empty and not stats.rows else problems
        if problems:
            raise CommandError(f"nothing was written: {'; '.join(problems)}", DOUBTFUL)
        return True
