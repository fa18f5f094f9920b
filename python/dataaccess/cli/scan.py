"""`dataaccess scan`: writes codes or items into a file, or into the folder of a run that can be resumed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli import conditions, output
from dataaccess.cli.connection import connecting
from dataaccess.cli.ending import CommandError, naming, signaled
from dataaccess.cli.parts import Commands, all_of, option
from dataaccess.cli.streams import note
from dataaccess.cli.values import Pair

if TYPE_CHECKING:
    from dataaccess import Scan, ScanReport
    from dataaccess.cli.conditions import Search
    from dataaccess.cli.connection import Connection

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
        option("--private", is_flag=True, section=_WHERE, help="Nobody else may read what is written."),
        option("--explain", is_flag=True, section=_WHERE, help="Print the plan and send nothing."),
        option("--json", "as_json", is_flag=True, section=_WHERE, help="Print a report of what was written, as JSON."),
        option("--refresh", metavar="DAYS", section=_RUN, help='Days to request again: a day, or "last 3 days".'),
        option("--layout", type=click.Choice(["days", "flat"]), section=_RUN, help="Names of the files."),
        option("--same-service", is_flag=True, section=_RUN, help="Accept files from another address."),
        option("--fail-fast", is_flag=True, section=_RUN, help="End with the first request that fails."),
        option(
            "--schema",
            type=Pair("COLUMN=TYPE", "area=float64"),
            multiple=True,
            metavar="COLUMN=TYPE",
            section="Requests",
            help="Type of a column: string, int64, float64, bool, timestamp, json.",
        ),
        option(
            "--known-row-cap", type=int, metavar="N", section="Requests", help="Rows at which the service cuts off."
        ),
        option("--split-capped", is_flag=True, section="Requests", help="Split requests that look cut off."),
        option(
            "--values-per-request", type=int, metavar="N", section="Requests", help="Send long lists in parts of N."
        ),
    ]
)

_EPILOG = """\b
Examples:
  dataaccess scan codes --since 2024-01-01 -o codes.parquet
  dataaccess scan codes --days 2024-01-01 2024-04-01 --folder codes   # again: resumes
  dataaccess scan items customer --attrs customer_id,name -o - --format csv | gzip > customers.csv.gz
"""

_SUFFIXES = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
}


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


@dataclass(frozen=True, slots=True)
class _Target:
    """Where the rows go, and in which format."""

    file: str | None
    folder: str | None
    kind: str
    private: bool


def _run(
    search: Search,
    connection: Connection,
    *,
    schema: list[tuple[str, str]],
    known_row_cap: int | None,
    split_capped: bool,
    values_per_request: int | None,
    explain: bool,
    as_json: bool,
    file: str | None,
    folder: str | None,
    kind: str | None,
    private: bool,
    **run: Any,
) -> None:
    target = None if explain else _target(file, folder, kind, private=private, run=run)
    cap = "split" if split_capped else "warn"
    more = {"known_row_cap": known_row_cap, "on_suspected_cap": cap, "values_per_request": values_per_request}
    scan = search.scan(connection.client(), schema=dict(schema) or None, **more)
    if target is None:
        click.echo(scan.explain())
    elif target.folder is not None:
        _into_folder(scan, target, run, as_json=as_json)
    else:
        _into_file(scan, target, as_json=as_json)


def _target(file: str | None, folder: str | None, kind: str | None, *, private: bool, run: dict[str, Any]) -> _Target:
    if folder is not None:
        if file is not None or kind not in (None, "parquet"):
            raise click.UsageError("--folder holds Parquet files: leave out --output and --format")
        return _Target(None, folder, "parquet", private)
    if unused := [f"--{name.replace('_', '-')}" for name, value in run.items() if value]:
        raise click.UsageError(f"{', '.join(unused)}: only with --folder")
    if file is not None and file != "-":
        _check_suffix(file, kind)
    if file is None or file == "-":
        if private:
            raise click.UsageError("--private is for --output FILE and --folder")
        if sys.stdout.isatty():
            raise click.UsageError("write --output FILE or --folder FOLDER, or pipe standard output into a program")
        return _Target(None, None, kind or "jsonl", private)
    return _Target(file, None, kind or _kind_of(file), private)


def _kind_of_suffix(file: str) -> str | None:
    name = file.lower().removesuffix(".gz").removesuffix(".zst")
    return next((kind for kind, suffixes in _SUFFIXES.items() if name.endswith(suffixes)), None)


def _check_suffix(file: str, chosen: str | None) -> None:
    kind = _kind_of_suffix(file)
    if kind is not None and chosen not in (None, kind):
        raise click.UsageError(f"--format {chosen} and the suffix of --output {file!r} differ: leave --format out")
    if (chosen or kind) in ("parquet", "arrow") and file.lower().endswith((".gz", ".zst")):
        suffix = Path(file.lower()).suffix
        raise click.UsageError(f"--output {file!r}: only csv and jsonl are written with {suffix}: leave it out")


def _kind_of(file: str) -> str:
    kind = _kind_of_suffix(file)
    if kind is not None:
        return kind
    known = ", ".join(suffixes[0] for suffixes in _SUFFIXES.values())
    raise click.UsageError(f"--output {file!r} has none of the suffixes {known}: add one, or --format")


def _into_folder(scan: Scan, target: _Target, run: dict[str, Any], *, as_json: bool) -> None:
    from dataaccess.cli.progress import progress

    try:
        with naming({"refresh": "--refresh", "layout": "--layout", "folder": "--folder"}), progress() as shown:
            report = scan.run(target.folder or "", private=target.private, **shown, **run)
    except KeyboardInterrupt as error:
        message, code = signaled(error)
        kept = f"finished requests are kept in {target.folder}; the same command resumes"
        raise CommandError(f"{message}: {kept}", code) from None
    if as_json:
        output.write_json(_as_dict(report))
    elif sys.stderr.isatty():
        kept = f", {report.kept:,} of them kept" if report.kept else ""
        note(f"{report.folder}: {report.rows:,} rows of {len(report.tasks):,} requests{kept}")


def _as_dict(report: ScanReport) -> dict[str, Any]:
    names = ("rows", "bytes", "file_bytes", "retries", "seconds", "new", "kept", "refreshed")
    more = ("maybe_capped", "reasons", "stray_days")
    figures = {name: getattr(report, name) for name in (*names, *more)}
    return {"folder": str(report.folder), "tasks": len(report.tasks), **figures}


def _into_file(scan: Scan, target: _Target, *, as_json: bool) -> None:
    if as_json and target.file is None:
        raise click.UsageError("--json prints a report to standard output, where the rows go: name a file")
    _write(scan, target)
    stats = scan.last_stats
    if stats is None or target.file is None:
        return
    if as_json:
        names = ("rows", "bytes", "seconds", "requests", "retries", "maybe_capped", "reasons")
        output.write_json({"file": target.file, **{name: getattr(stats, name) for name in names}})
    elif sys.stderr.isatty():
        from dataaccess._display.text import size

        note(f"{target.file}: {stats.rows:,} rows, {size(stats.bytes)} in {stats.seconds:.1f} s")


def _write(scan: Scan, target: _Target) -> None:
    with naming({"path": "--output", "private": "--private"}):
        _write_as(scan, target)


def _write_as(scan: Scan, target: _Target) -> None:
    from dataaccess.cli.progress import progress

    if target.kind == "arrow":
        from dataaccess.cli.arrow_file import write

        write(scan, target.file, private=target.private)
        return
    with progress() as shown:
        write_as = getattr(scan, f"to_{target.kind}")
        if target.file is None:
            with output.binary_stdout() as stdout:
                write_as(stdout, **shown)
            return
        is_tabbed = target.kind == "csv" and Path(target.file.lower()).name.partition(".")[2].startswith("tsv")
        separator = {"separator": "\t"} if is_tabbed else {}
        write_as(target.file, private=target.private, **shown, **separator)
