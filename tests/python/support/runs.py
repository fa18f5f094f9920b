"""Tests of runs: a service with a few days of codes, responses by requested value, folders, and planted files."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.environment import in_parts
from support.raw_server import RawServer, serving
from support.streams import response_of

import dataaccess as da

HIDDEN = ".dataaccess"

# Rows of each day of January 2024, from the first on: all different, and one of them none.
ROWS_OF_DAYS = (3, 41, 7, 0, 12, 25, 1, 18)
DAYS = da.days("2024-01-01", f"2024-01-{len(ROWS_OF_DAYS) + 1:02}")
ROWS = sum(ROWS_OF_DAYS)


def doubtful(report: da.FolderReport) -> list[da.reports.FileReport]:
    """The files that can be read and look wrong."""
    return [file for file in report.files if file.doubts and file.state != "damaged"]


def reasons(report: da.FolderReport) -> list[str]:
    """Why the warning of a report says that rows may be missing."""
    texts = [text for text in report.warnings if text.startswith("rows may be missing: ")]
    assert report.maybe_capped == bool(texts)
    joined = [text.removeprefix("rows may be missing: ").partition("; ask for less per request")[0] for text in texts]
    return [reason for text in joined for reason in text.split("; ")]


def damaged(report: da.FolderReport) -> list[da.reports.FileReport]:
    return [file for file in report.files if file.state == "damaged"]


def numbers_in(text: str) -> list[str]:
    """The numbers and days of a text, in order."""
    return re.findall(r"\d+(?:-\d+)*", text)


def code(day: int, number: int) -> dict[str, Any]:
    """A code that was allocated on a day of January 2024."""
    return {
        "id": f"code-{day:02}-{number:05}",
        "name": f"Größe {number}",
        "pool_id": day * 1_000 + number,
        "date_created": "2023-12-01 08:00:00",
        "allocated_time": f"2024-01-{day:02} {number % 24:02}:30:00",
        "allocated_audience": f"holder-{number}" if number % 3 else None,
        "audience_type": -1003,
        "code_status": 4 if number % 2 else 3,
    }


@contextmanager
def some_days(rows_of_days: Sequence[int] = ROWS_OF_DAYS, **switches: Any) -> Iterator[da.Sandbox]:
    """A service with so many codes of each day of January 2024."""
    with da.Sandbox(switches=switches) as service:
        rows = [code(day, number) for day, count in enumerate(rows_of_days, 1) for number in range(count)]
        service.load("promotion_code", rows)
        yield service


@pytest.fixture(scope="module")
def store() -> Iterator[da.Sandbox]:
    """Some days, for all tests of a module, none of which changes them."""
    with some_days() as service:
        yield service


@pytest.fixture
def service(store: da.Sandbox) -> da.Sandbox:
    """The store of the module, with the requests of one test."""
    store.clear_requests()
    return store


def by_day(client: Any, *arguments: Any, **options: Any) -> Any:
    """A scan of all these days, a request a day."""
    return client.scan_codes(*arguments, allocated_time=DAYS, **options)


def by_value(client: Any, values: list[str], attrs: tuple[str, ...] = ("n", "text"), **options: Any) -> Any:
    """A scan of an object without rules, a request a value."""
    where = da.col(attrs[0]).matches(values)
    return in_parts(1, client.scan_items, "store", list(attrs), where, item_type_id=7, **options)


@contextmanager
def responding(response_of: Callable[[Any, str, int], None]) -> Iterator[RawServer]:
    """A server for `by_value`: handlers get the connection, the value and the number of its earlier requests."""
    asked: dict[str, int] = {}

    def serve(connection: Any, number: int) -> None:
        ((value,),) = [group["AND"][0]["value"] for group in server.requests[number].json["filters"]["OR"]]
        before = asked[value] = asked.get(value, -1) + 1
        response_of(connection, value, before)

    with serving(serve) as server:
        yield server


def giving(records: dict[str, list[dict[str, Any]]]) -> Callable[[Any, str, int], None]:
    def give(connection: Any, value: str, _before: int) -> None:
        connection.sendall(response_of(records[value]))

    return give


def values_asked(server: RawServer) -> list[str]:
    """What `by_value` asked for, in the order in which it came."""
    return [request.json["filters"]["OR"][0]["AND"][0]["value"][0] for request in server.requests]


def parts(folder: Path) -> list[Path]:
    """The files with rows, in the order of their tasks."""
    return sorted(folder.glob("day=*/*.parquet")) + sorted(folder.glob("*.parquet"))


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """All rows of a folder, as its files have them one after the other."""
    return [row for part in parts(folder) for row in pl.read_parquet(part, hive_partitioning=False).to_dicts()]


def record_of(part: Path | BytesIO) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(pq.read_metadata(part).metadata[b"dataaccess.task"])["record"]
    return record


def tasks_done(folder: Path) -> list[str]:
    """The tasks that have a part, in the order of the plan. Each part is complete."""
    return [record_of(part)["task"] for part in parts(folder)]


def left_in(folder: Path) -> list[str]:
    """The files of a folder that are no parts."""
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path not in parts(folder)
    )


def failed_for_good(error: da.ScanIncompleteError) -> list[int]:
    return sorted(int(task.partition("-")[0]) for task in error.failed)


def planted(part: bytes, table: pa.Table, **members: Any) -> bytes:
    """A part with other rows than the given one, which passes for it; its record has these members too.

    Its checksums are right, as of someone who may write to the folder: they are no signature.
    """
    record = record_of(BytesIO(part)) | {"rows": table.num_rows, **members}
    file = BytesIO()
    with pq.ParquetWriter(file, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        data = bytes(file.getvalue())
        sums = {"data_bytes": len(data), "data_crc32": f"{zlib.crc32(data):08x}", "tail_crc32": "00000000"}
        seal = json.dumps({"record": record, **sums}, separators=(",", ":"))
        writer.add_key_value_metadata({b"dataaccess.task": seal.encode()})
    tail = file.getvalue()[len(data) :]
    return data + tail.replace(b'"tail_crc32":"00000000"', b'"tail_crc32":"%08x"' % zlib.crc32(tail))
