"""`dataaccess scan`: writes codes or items into a file, or into the folder of a run that can be resumed."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dataaccess._display.text import open_text, size
from dataaccess.cli import conditions, doubts, output
from dataaccess.cli.connection import connecting
from dataaccess.cli.ending import CommandError, code_of, message_of, signaled
from dataaccess.cli.parts import Commands, all_of, option
from dataaccess.cli.progress import retries_shown
from dataaccess.cli.streams import note
from dataaccess.cli.target import target_of
from dataaccess.cli.values import Pair, Settle
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess import Scan
    from dataaccess.cli.conditions import Search
    from dataaccess.cli.connection import Connection
    from dataaccess.cli.target import Target

_WHERE = "Where rows go"
_RUN = "With --folder"

_WRITING = all_of(
    [
        option(
            "-o", "--output", "file", metavar="FILE", section=_WHERE, help="File, by its suffix; - is standard output."
        ),
        option("--folder", metavar="FOLDER", section=_WHERE, help="Folder of Parquet files: resumable."),
        option(
            "--format",
            "kind",
            type=click.Choice(["parquet", "csv", "jsonl", "arrow"]),
            section=_WHERE,
            help="Format, if the suffix does not say it. [jsonl]",
        ),
        output.escaping(_WHERE),
        option("--explain", is_flag=True, section=_WHERE, help="Print the plan and send nothing."),
        option("--json", "as_json", is_flag=True, section=_WHERE, help="Print a report of what was written, as JSON."),
        doubts.options(_WHERE),
        option(
            "--refresh",
            multiple=True,
            metavar="DAYS",
            section=_RUN,
            help="What to request again: all, a day, or days as \"days('2024-01-05', '2024-01-10')\".",
        ),
        option(
            "--accept",
            multiple=True,
            metavar="DAYS",
            section=_RUN,
            help="Days whose data are right although they look wrong: a day, or as --refresh.",
        ),
        option("--requested-at", is_flag=True, section=_RUN, help="Add a column with the time of each request."),
        option(
            "--settle",
            type=Settle(),
            metavar="TIME",
            section=_RUN,
            help="How long a day that is over may change, as 3d. [1h]",
        ),
        option("--same-service", is_flag=True, section=_RUN, help="Accept files from another address."),
        option(
            "--schema",
            type=Pair("COLUMN=TYPE", "area=float64"),
            multiple=True,
            metavar="COLUMN=TYPE",
            section="Requests",
            help="Type of a column: string, int64, float64, bool, timestamp, json.",
        ),
        option("--split-capped", is_flag=True, section="Requests", help="Split requests that look cut off."),
    ]
)

_EPILOG = """\b
Examples:
  dataaccess scan codes --since 2024-01-01 -o codes.parquet
  dataaccess scan codes --days 2024-01-01 2024-04-01 --folder codes   # again: resumes
  dataaccess scan items customer --attrs customer_id,name -o - --format csv | gzip > customers.csv.gz
"""


@click.group("scan", cls=Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Write codes or items into files: large results, resumable.

    A file appears only when it is complete. A folder has a Parquet file for each request, and the same command again
    sends only the requests whose file is missing. Memory is bounded.
    """


@command.command("codes", epilog=_EPILOG)
@conditions.codes
@_WRITING
@connecting()
def codes(search: Search, connection: Connection, **writing: Any) -> None:
    """Write promotion codes into a file or folder."""
    _run(search, connection, **writing)


@command.command("items", epilog=_EPILOG)
@conditions.items
@_WRITING
@connecting()
def items(search: Search, connection: Connection, **writing: Any) -> None:
    """Write the items of a business object into a file or folder.

    NAME is customer, promotion_code, or the name of an object of your own with its --item-type-id.
    """
    _run(search, connection, **writing)


def _run(
    search: Search,
    connection: Connection,
    *,
    schema: list[tuple[str, str]],
    split_capped: bool,
    explain: bool,
    as_json: bool,
    file: str | None,
    folder: str | None,
    kind: str | None,
    escape_formulas: bool,
    strict: bool,
    fail_empty: bool,
    **run: Any,
) -> None:
    if explain and as_json:
        raise click.UsageError("--explain prints text: leave --json out; `dataaccess validate` prints requests as JSON")
    target = target_of(file, folder, kind, run=run, is_written=not explain)
    if escape_formulas and target.kind != "csv":
        raise click.UsageError("--escape-formulas is for CSV: add --format csv, or leave it out")
    cap = "split" if split_capped else "warn"
    scan = search.scan(connection.client(), schema=dict(schema) or None, on_suspected_cap=cap)
    if explain:
        click.echo(scan.explain() if run["settle"] is None else scan.explain(settle=run["settle"]))
        return
    judge = doubts.Doubts(strict, fail_empty)
    with _reported(as_json=as_json):
        if target.folder is not None:
            _into_folder(scan, target, run, judge, as_json=as_json)
        else:
            with judge.judged():
                _into_file(scan, target, judge, as_json=as_json, escape_formulas=escape_formulas)


@contextmanager
def _reported(*, as_json: bool) -> Iterator[None]:
    """Prints a report of a failure too."""
    try:
        yield
    except (CommandError, DataAccessError) as error:
        if as_json:
            output.write_json(_as_dict({} if error.report is None else error.report.to_dict(), error))
        raise


def _into_folder(scan: Scan, target: Target, run: dict[str, Any], judge: doubts.Doubts, *, as_json: bool) -> None:
    try:
        with retries_shown():
            chosen = {name: value for name, value in run.items() if value not in (None, ())}
            for name in ("refresh", "accept"):
                if days := chosen.get(name):
                    chosen[name] = days[0] if len(days) == 1 else list(days)
            report = scan.to_folder(target.folder or "", **chosen, **judge.of_run)
    except KeyboardInterrupt as error:
        message, code = signaled(error)
        kept = f"finished tasks are kept in {target.folder}; the same command resumes"
        raise CommandError(f"{message}: {kept}", code) from None
    judge.check_report(report)
    if report.open_days:
        note(f"{report.folder}: {open_text(report.open_days)}")
    if as_json:
        output.write_json(_as_dict(report.to_dict()))
    elif sys.stderr.isatty():
        note(f"{report.folder}: {str(report).partition(chr(10))[0]}")


def _as_dict(report: dict[str, Any], error: CommandError | DataAccessError | None = None) -> dict[str, Any]:
    failed: dict[str, DataAccessError] = getattr(error, "failed", {})
    return {
        **report,
        "error": None if error is None else message_of(error),
        "exit_code": 0 if error is None else code_of(error),
        "failed": {task: message_of(each) for task, each in failed.items()},
    }


def _into_file(scan: Scan, target: Target, judge: doubts.Doubts, *, as_json: bool, escape_formulas: bool) -> None:
    if as_json and target.file is None:
        raise click.UsageError("--json prints a report to standard output, where the rows go: name a file")
    _write(scan, target, judge, {"escape_formulas": True} if escape_formulas else {})
    stats = scan.last_stats
    if stats is None or target.file is None:
        return
    if as_json:
        names = ("rows", "bytes", "seconds", "requests", "retries", "maybe_capped", "warnings")
        output.write_json(_as_dict({"file": target.file, **{name: getattr(stats, name) for name in names}}))
    elif sys.stderr.isatty():
        note(f"{target.file}: {stats.rows:,} rows, {size(stats.bytes)} in {stats.seconds:.1f} s")


def _write(scan: Scan, target: Target, judge: doubts.Doubts, settings: dict[str, Any]) -> None:
    if target.kind == "arrow":
        from dataaccess.cli.arrow_file import write  # for Arrow only

        write(scan, target.file, judge)
        return
    settings["on_doubt"] = judge.accept
    with retries_shown():
        write_as = getattr(scan, f"to_{target.kind}")
        if target.file is None:
            with output.binary_stdout() as stdout:
                write_as(stdout, **settings)
            return
        write_as(target.file, **settings)
