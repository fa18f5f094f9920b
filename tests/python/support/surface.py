"""The public surface besides Python names: settings, exit codes, log records, reports, columns and files.

What no table says is observed: a run against the sandbox logs, reports and writes.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from support.public_names import public_names

import dataaccess as da
import pytest_dataaccess
from dataaccess import _native
from dataaccess._client.profiles import _KEYS
from dataaccess._client.settings import SETTINGS
from dataaccess._client.variables import KNOWN
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess.spark._options import _ALL

TO_DO = "the public surface changed: run `make surface`, read the difference, and say in CHANGELOG.md what users notice"
FOLDER = Path(__file__).parents[1] / "surface"
DAY = "2024-01-01"
# Keys whose values have no keys or types of their own: they depend on what is asked or found.
DATA = {"client", "extra_keys", "query", "settings", "switches", "value"}
JSON_TYPES = {"null": NoneType, "bool": bool, "int": int, "float": float, "str": str}
CODES = [{"id": str(number), "allocated_time": f"{DAY} 09:00:00"} for number in range(3)]

Run = Callable[..., Any]


def package_lines(_run: Run) -> Iterator[str]:
    """What installers, pytest and Airflow find."""
    installed = distribution("dataaccess")
    yield f"Python {installed.metadata['Requires-Python']}"
    for requirement in installed.requires or []:
        package, _, condition = requirement.partition(";")
        yield f"requires {package.strip()}; {condition.strip()}"
    yield from (f"extra {name}" for name in installed.metadata.get_all("Provides-Extra") or [])
    yield from (f"entry point {each.group}: {each.name} = {each.value}" for each in installed.entry_points)
    yield f"pytest marker {pytest_dataaccess._MARKER.partition(':')[0]}"


def settings_lines(_run: Run) -> Iterator[str]:
    """Arguments of clients with all that reads them, and the variables of the environment."""
    for name, spec in SETTINGS.items():
        bounds = f", {spec.least:g} to {'any' if spec.most is None else f'{spec.most:g}'}"
        yield f"{name}: {spec.kind} = {spec.default!r}{bounds if spec.kind in ('integer', 'number', 'count') else ''}"
        yield from (f"{name}: choice {choice}" for choice in spec.choices)
        yield from (f"{name}: variable {number} {text}" for number, text in enumerate(spec.variables, 1))
        if spec.is_usual:
            yield f"{name}: option of the command, field of an Airflow connection"
    yield from (f"{name}: key of a profile" for name in _KEYS)
    yield from (f"{name}: option of the Spark data source" for name in _ALL)
    yield from (f"variable {name}" for name in {*KNOWN, *_native.ENVIRONMENT})
    yield from (f"switch {name} = {value!r}" for name, value in _native.SWITCHES.items())


def exit_code_lines(_run: Run) -> Iterator[str]:
    """What a program should end with, by exception; of one that is retryable always 75."""
    for name in da.errors.__all__:
        kind = getattr(da.errors, name)
        if isinstance(kind, type) and issubclass(kind, da.DataAccessError):
            yield f"{name}: {kind().exit_code}"


def log_lines(_run: Run) -> list[str]:
    """Loggers and levels with the attributes of their records."""
    kinds: dict[str, set[str]] = defaultdict(set)
    plain = vars(logging.makeLogRecord({})).keys()

    class Noting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            place = f"{record.name} {record.levelname}"
            kinds[place].add("")
            for name, value in vars(record).items():
                if name not in {*plain, "message", "asctime"}:
                    kinds[f"{place}: {name}"].add(type(value).__name__)

    handler, logger = Noting(), logging.getLogger("dataaccess")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with made_folder() as (client, _folder, _report):
            client.scan_codes(["id"], allocated_time=da.on(DAY)).to_lazyframe().select(pl.len()).collect()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    return [f"{place}: {' | '.join(sorted(types))}".removesuffix(": ") for place, types in kinds.items()]


def report_lines(run: Run) -> Iterator[str]:
    """Keys of reports as JSON: of Python and of the command."""
    with made_folder() as (_client, folder, report):
        yield from keys("ScanReport.to_dict()", report.to_dict())
        yield from keys("FolderStatus.to_dict()", da.folder_status(folder).to_dict())
    demo = ("--base-url", "sandbox:demo?until=2024-02-29")
    for words in (
        ("doctor", "--day", "2024-01-15", *demo),
        ("probe", "--day", "2024-01-15", "--yes", *demo),
        ("segment", "5637051", *demo),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", da.SandboxWarning)
            _, output, _ = run(*words, "--json")
        yield from keys(f"dataaccess {words[0]} --json", json.loads(output))


def column_lines(_run: Run) -> Iterator[str]:
    """Columns of promotion codes in Arrow, and each type in Python, polars and Spark."""
    with da.Sandbox.demo(until="2024-01-31") as sandbox:
        scan = sandbox.client().scan_codes([*da.PROMOTION_CODE_ATTRIBUTES], allocated_time=da.on("2024-01-15"))
        for field in scan.to_arrow().schema:
            yield f"promotion code {field.name}: {field.type}{'' if field.nullable else ' not null'}"
    for name, info in COLUMN_TYPES.items():
        yield f"type {name}: Python {info.python.__name__}; polars {info.polars(pl)}; Spark {', '.join(info.spark)}"


def file_lines(_run: Run) -> Iterator[str]:
    """Names of the files of a folder, and what their footers record."""
    with made_folder() as (_client, folder, _report):
        paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        yield from (f"file {path}" for path in paths)
        footer = pq.read_metadata(folder / f"day={DAY}" / "part-0.parquet").metadata
        yield from (f"footer {name.decode()}" for name in footer if name.startswith(b"dataaccess"))
        task = json.loads(footer[b"dataaccess.task"])
        yield from keys("footer dataaccess.task", task)
        yield f"footer dataaccess.task.record.format = {task['record']['format']}"


@contextmanager
def made_folder() -> Iterator[tuple[da.Client, Path, da.ScanReport]]:
    """A folder of two days: a request was retried, a task failed in a first run, and a day looks capped."""
    with (
        TemporaryDirectory() as folder,
        da.Sandbox(now="2024-01-02T12:00") as sandbox,
        sandbox.client(concurrency=1, retries=1) as client,
    ):
        sandbox.load("promotion_code", CODES)
        days = da.days(DAY, "2024-01-03")
        scan = client.scan_codes(["id", "allocated_time"], allocated_time=days, known_row_cap=len(CODES))
        with (
            sandbox.fault("status", status=503, times=1, headers={"Retry-After": "0"}),
            sandbox.fault("status", status=400, after=1),
            warnings.catch_warnings(action="ignore", category=da.IncompleteWarning),
            pytest.raises(da.ScanIncompleteError),
        ):
            scan.to_folder(folder)
        with pytest.warns(da.IncompleteWarning):
            report = scan.to_folder(folder)
        yield client, Path(folder), report


def keys(path: str, value: Any) -> list[str]:
    """The keys of a JSON value with the types of their values."""
    found: dict[str, set[str]] = defaultdict(set)
    _add_keys(found, path, value)
    return [f"{key}: {' | '.join(sorted(types))}" for key, types in found.items()]


def _add_keys(found: dict[str, set[str]], path: str, value: Any) -> None:
    if path.rpartition(".")[2] in DATA:
        found[path].add("any")
    elif isinstance(value, dict):
        for name, one in value.items():
            _add_keys(found, f"{path}.{name}", one)
    elif isinstance(value, list):
        found[path].add("list")
        for one in value:
            _add_keys(found, f"{path}[]", one)
    else:
        found[path].add(next(name for name, kind in JSON_TYPES.items() if isinstance(value, kind)))


FILES: dict[str, Callable[[Run], Any]] = {
    "python": lambda _run: public_names(),
    "package": package_lines,
    "settings": settings_lines,
    "exit-codes": exit_code_lines,
    "logs": log_lines,
    "reports": report_lines,
    "columns": column_lines,
    "files": file_lines,
}


def text_of(name: str, run: Run) -> str:
    """The text of a file, one thing a line; sorted, but for the parameters of a call, which keep their order."""
    lines = list(dict.fromkeys(FILES[name](run)))
    return "\n".join(lines if name == "python" else sorted(lines)) + "\n"
