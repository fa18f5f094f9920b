"""Scans into files: what is in them, and that there is a whole one or none, whatever happens on the way."""

from __future__ import annotations

import asyncio
import csv
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.raw_server import Close, always, http, serving
from support.scan_requests import SILENCE, Asked, Last, good, parted, rows_of, rows_of_all, scan_of_parts
from support.streams import CLOSING, HEAD, OPENING, answer, in_parts, records, scan_of, whole

import dataaccess as da

KINDS = ["parquet", "csv", "jsonl"]
every_kind = pytest.mark.parametrize("kind", KINDS)
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and modes are POSIX")


def write(scan: Any, kind: str, path: str | Path) -> None:
    """Writes a scan into a file of a kind."""
    assert getattr(scan, f"to_{kind}")(path) is None


def rows_in(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of numbers and texts."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        return [{"n": int(row["n"]), "text": row["text"]} for row in csv.DictReader(file)]


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a file of each kind goes, in a folder of its own."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / f"rows.{request.param}"


def kind_of(path: Path) -> str:
    return path.suffix[1:]


@pytest.fixture
def before(request: pytest.FixtureRequest, path: Path) -> Iterator[None]:
    """What was there is there again in the end, and nothing else: no file, or an old one, by kind and test."""
    is_old = (KINDS.index(kind_of(path)) + zlib.crc32(request.node.originalname.encode())) % 2 == 0
    if is_old:
        path.write_text("of last week")
    yield
    # A call that was ended ends its work in a moment.
    expected = [path.name] if is_old else []
    deadline = time.monotonic() + 2
    while (left := [found.name for found in path.parent.iterdir()]) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == expected
    assert not is_old or path.read_text() == "of last week"


# Values that files get wrong.
ODD: list[dict[str, Any]] = [
    {"a": "plain", "b": 1, "c": 1.5, "d": True, "e": "2024-01-15 10:00:00", "f": {"k": [1, None, "x"]}},
    {"a": None, "b": None, "c": None, "d": None, "e": None, "f": None},
    {"a": 'quote " comma , semicolon ;', "b": 2**63 - 1, "c": -0.0, "d": False, "e": "1970-01-01 00:00:00", "f": []},
    {"a": "line\nfeed\r\nreturn\rtab\t", "b": -(2**63), "c": 5e-324, "d": None, "e": "9999-12-31 23:59:59", "f": "x"},
    {"a": "NUL\0in it", "b": 0, "c": 1.7976931348623157e308, "d": True, "e": "0001-01-01 00:00:00", "f": 2**70},
    {"a": "Zoë 夏 🎁 \u2028 \u202e \ufeff", "b": 7, "c": 0.1, "d": True, "e": "2024-02-29 23:59:59.5", "f": 1.25},
    {"a": "null", "b": 1, "c": 1e-7, "d": False, "e": None, "f": "null"},
    {"a": "  blanks  ", "b": 2**53 + 1, "c": 1e22, "d": True, "e": None, "f": True},
    {"a": "=1+1", "b": 3, "c": 3.0, "d": True, "e": None, "f": "{}"},
    {"a": "\\N \\n \\", "b": 4, "c": 4.25, "d": True, "e": None, "f": {"ä": {"": []}}},
]
ODD_TYPES = {"a": "string", "b": "int64", "c": "float64", "d": "bool", "e": "timestamp", "f": "json"}


@pytest.fixture
def odd() -> Iterator[str]:
    """The address of a service whose rows these are."""
    with serving(always(answer(ODD))) as server:
        yield server.base_url


def odd_scan(client: Any, **options: Any) -> Any:
    return scan_of(client, list(ODD_TYPES), **{"schema": ODD_TYPES, **options})


def test_parquet_has_the_columns_of_the_scan(connect: Any, odd: str, tmp_path: Path) -> None:
    scan = odd_scan(connect(odd))
    scan.to_parquet(tmp_path / "odd.parquet")
    table = pq.read_table(tmp_path / "odd.parquet")
    assert table.equals(scan.to_arrow())
    assert table.schema.equals(scan.to_arrow().schema, check_metadata=True)
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "int64",
        "double",
        "bool",
        "timestamp[us]",
        "string",
    ]
    assert pl.read_parquet(tmp_path / "odd.parquet").equals(scan.to_polars())
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "odd.parquet", dtype_backend="pyarrow"), scan.to_pandas(dtype_backend="pyarrow")
    )
    found = duckdb.read_parquet(str(tmp_path / "odd.parquet")).fetchall()
    assert found == [tuple(row.values()) for row in table.to_pylist()]
    assert {pq.ParquetFile(tmp_path / "odd.parquet").metadata.row_group(0).column(0).compression} == {"ZSTD"}


def test_lines_of_json_are_the_rows_of_the_scan(connect: Any, odd: str, tmp_path: Path) -> None:
    scan = odd_scan(connect(odd))
    scan.to_jsonl(tmp_path / "odd.jsonl")
    lines = (tmp_path / "odd.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows == scan.to_dicts() == ODD
    assert [str(value) for row in rows for value in row.values()] == [
        str(value) for row in ODD for value in row.values()
    ]
    assert len((tmp_path / "odd.jsonl").read_text(encoding="utf-8").split("\n")) == len(ODD) + 1, (
        "lines end by \\n alone"
    )


def test_lines_of_json_keep_the_keys_that_columns_do_not(connect: Any, tmp_path: Path) -> None:
    rows = [{"n": 1, "more": {"k": 1}}, {"text": "a", "n": 2, "ä": None}]
    with serving(always(answer(rows))) as server:
        scan = scan_of(connect(server.base_url))
        scan.to_jsonl(tmp_path / "rows.jsonl")
        text = (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
        assert [list(json.loads(line)) for line in text.splitlines()] == [["n", "text", "more"], ["n", "text", "ä"]]
        assert [json.loads(line) for line in text.splitlines()] == scan.to_dicts()
        assert scan.last_stats.extra_keys == {"more": 1, "ä": 1}


def test_other_libraries_read_the_lines_of_json(connect: Any, tmp_path: Path) -> None:
    with serving(in_parts(whole(500))) as server:
        scan = scan_of(connect(server.base_url))
        path = tmp_path / "rows.jsonl"
        scan.to_jsonl(path)
        rows = scan.to_dicts()
    assert pl.read_ndjson(path).to_dicts() == rows
    assert pd.read_json(path, lines=True).to_dict("records") == rows
    assert duckdb.read_json(str(path)).fetchall() == [tuple(row.values()) for row in rows]


def test_csv_has_the_values_of_the_scan(connect: Any, odd: str, tmp_path: Path) -> None:
    odd_scan(connect(odd)).to_csv(tmp_path / "odd.csv")
    with (tmp_path / "odd.csv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == list(ODD_TYPES)
    assert len(lines) == len(ODD)
    for line, row in zip(lines, ODD, strict=True):
        for text, (column, value) in zip(line, row.items(), strict=True):
            if value is None:
                assert text == ""
            elif column == "c":
                assert repr(float(text)) == repr(value)
            elif column in "bdf":
                assert json.loads(text) == value
            else:
                assert text == value.replace("59.5", "59.500")


def test_other_libraries_read_the_csv(connect: Any, sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(sandbox).scan_codes(allocated_time=da.after("2024-02-20"))
    path = tmp_path / "codes.csv"
    scan.to_csv(path)
    frame = scan.to_polars()
    assert pl.read_csv(path, schema=frame.schema).equals(frame)
    pandas = pd.read_csv(
        path,
        dtype=scan.to_pandas().dtypes.drop(times := ["date_created", "allocated_time"]).to_dict(),
        parse_dates=times,
    )
    pd.testing.assert_frame_equal(pandas, scan.to_pandas(), check_dtype=False)
    types = {name: "varchar" for name, kind in frame.schema.items() if kind == pl.String}
    found = duckdb.read_csv(str(path), dtype=types)
    assert [tuple(row.values()) for row in frame.to_dicts()] == found.fetchall()


def test_in_csv_an_empty_text_is_a_missing_one_as_it_says(connect: Any, tmp_path: Path) -> None:
    with serving(always(answer([{"n": 1, "text": ""}, {"n": 2, "text": None}]))) as server:
        scan_of(connect(server.base_url)).to_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "n,text\n1,\n2,\n"


def test_a_column_of_nothing_keeps_its_lines(connect: Any, tmp_path: Path) -> None:
    with serving(always(answer([{"text": None}, {"text": "a"}, {"text": None}]))) as server:
        scan_of(connect(server.base_url), ["text"]).to_csv(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["text"], [""], ["a"], [""]]


def test_files_of_all_codes(connect: Any, sandbox: da.Sandbox, path: Path) -> None:
    scan = connect(sandbox).scan_codes(allocated_time=da.days("2024-01-01", "2024-03-01"))
    write(scan, kind_of(path), path)
    assert scan.last_stats.requests == 60
    frame = scan.to_polars()
    found: pl.DataFrame
    match kind_of(path):
        case "parquet":
            found = pl.read_parquet(path)
        case "csv":
            found = pl.read_csv(path, schema=frame.schema)
        case _:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            assert rows == scan.to_dicts()
            return
    assert found.equals(frame)
    assert len(found) > 3_000


# Several requests.


def test_rows_of_several_answers_are_in_the_order_of_the_plan(connect: Any, path: Path) -> None:
    done = [threading.Event() for _ in range(6)]

    def backwards(asked: Asked) -> bytes:
        assert asked.part == 5 or done[asked.part + 1].wait(20)
        done[asked.part].set()
        return good(asked)

    with parted(backwards) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=6), 6)
        write(scan, kind_of(path), path)
        assert rows_in(path) == rows_of_all(6)
        assert (scan.last_stats.rows, scan.last_stats.requests) == (12, 6)


def test_without_order_and_with_a_limit(connect: Any, path: Path) -> None:
    with parted(good) as parts:
        client = connect(parts.base_url)
        write(scan_of_parts(client, 6, ordered=False), kind_of(path), path)
        assert sorted(rows_in(path), key=lambda row: row["n"]) == rows_of_all(6)
        write(scan_of_parts(client, 6, limit=5), kind_of(path), path)
        assert rows_in(path) == rows_of_all(6)[:5]
        assert parts.asked[6:] == [0, 1, 2]


def test_types_are_those_of_the_first_answer_with_rows(connect: Any, path: Path) -> None:
    with parted(lambda asked: answer(rows_of(asked.part) if asked.part > 1 else [])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5, schema=None)
        write(scan, kind_of(path), path)
        assert rows_in(path) == rows_of_all(5)[4:]
        if kind_of(path) == "parquet":
            assert pq.read_schema(path).types == [pa.int64(), pa.string()]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_later_value_of_another_type_is_told_with_what_mends_it(connect: Any, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    with parted(lambda asked: answer([{"n": 1 if asked.part < 2 else "x", "text": None}])) as parts:
        client = connect(parts.base_url)
        with pytest.raises(da.RecordError, match="request 3 of 3") as caught:
            write(scan_of_parts(client, 3, schema=None), kind, path)
        assert caught.value.hint == 'pass schema={"n": "json"}'
        assert list(tmp_path.iterdir()) == []
        write(scan_of_parts(client, 3, schema={"n": "json"}), kind, path)
        assert path.exists()
        scan_of_parts(client, 3, schema=None).to_jsonl(tmp_path / "rows.jsonl")
        assert [row["n"] for row in rows_in(tmp_path / "rows.jsonl")] == [1, 1, "x"]


@pytest.mark.usefixtures("before")
def test_a_failure_of_one_request_leaves_no_file(connect: Any, path: Path) -> None:
    refused = http({"code": 400, "message": "no such thing"}, "400 Bad Request")
    with parted(lambda asked: refused if asked.part == 2 else good(asked)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with pytest.raises(da.RequestRejectedError, match="request 3 of 5"):
            write(scan, kind_of(path), path)
        assert scan.last_stats is None or not scan.last_stats


# Answers that break off.

MANY = 70_000
"""Rows of more than one batch, so that some are in the file when the answer breaks off."""


def long(break_off: Callable[[int], int | None]) -> Any:
    """A long answer, each time cut after so many rows."""

    def answers(connection: Any, number: int) -> None:
        count = break_off(number)
        connection.sendall(HEAD + OPENING + records(0, MANY if count is None else count))
        if count is None:
            connection.sendall(CLOSING)
        raise Close

    return serving(answers)


def test_rows_of_an_answer_that_broke_off_are_not_in_the_file(connect: Any, path: Path) -> None:
    with long(lambda number: MANY - 1_000 * (number + 1) if number < 2 else None) as server:
        scan = scan_of(connect(server.base_url))
        write(scan, kind_of(path), path)
        assert [row["n"] for row in rows_in(path)] == list(range(MANY))
        assert len(server.requests) == 3
        assert (scan.last_stats.rows, scan.last_stats.retries) == (MANY, 2)


def test_types_of_rows_that_were_taken_back_bind_nothing(connect: Any, path: Path) -> None:
    def answers(connection: Any, number: int) -> None:
        first = records(0, MANY) if number == 0 else b'{"n":"a","text":1}'
        connection.sendall(HEAD + OPENING + first + (CLOSING if number else b""))
        raise Close

    with serving(answers) as server:
        scan = scan_of(connect(server.base_url))
        write(scan, kind_of(path), path)
        if kind_of(path) == "parquet":
            assert pq.read_table(path).to_pylist() == [{"n": "a", "text": 1}]
        elif kind_of(path) == "csv":
            assert path.read_text() == "n,text\na,1\n"


@pytest.mark.usefixtures("before")
def test_an_answer_that_always_breaks_off_leaves_no_file(connect: Any, path: Path) -> None:
    with long(lambda _number: MANY) as server:
        with pytest.raises(da.TruncatedResponseError, match="2 attempts were cut off at byte"):
            write(scan_of(connect(server.base_url)), kind_of(path), path)
        assert len(server.requests) == 2


@pytest.mark.usefixtures("before")
def test_an_answer_that_turns_out_to_be_none_leaves_no_file(connect: Any, path: Path) -> None:
    late = b'],"status":false}}'
    parts = [b'{"code":200,"data":{"data":[', records(0, MANY), late]
    with serving(in_parts(parts)) as server, pytest.raises(da.ApiError, match="status false"):
        write(scan_of(connect(server.base_url)), kind_of(path), path)


def test_answers_of_several_that_broke_off_are_not_in_the_file_twice(connect: Any, path: Path) -> None:
    def answers(asked: Asked) -> bytes:
        data = good(asked)
        return Last(data[: -3 - asked.attempt]) if asked.attempt < asked.part else data

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4)
        write(scan, kind_of(path), path)
        assert rows_in(path) == rows_of_all(4)
        assert scan.last_stats.retries == 6


@pytest.mark.usefixtures("before")
def test_one_of_several_long_answers_that_broke_off_leaves_no_file(connect: Any, path: Path) -> None:
    # Rows of another request may stand behind its own in the file by then: `run` has a file for each.
    def answers(asked: Asked) -> bytes:
        data = answer(rows_of(asked.part, 2 * MANY if asked.part == 1 else 2))
        return Last(data[:-3]) if asked.part == 1 else data

    with parted(answers) as parts:
        with pytest.raises(da.TruncatedResponseError, match="request 2 of 3"):
            write(scan_of_parts(connect(parts.base_url), 3), kind_of(path), path)
        assert parts.asked.count(1) == 1


# What ends it on the way.


@pytest.mark.async_only
@pytest.mark.usefixtures("before")
def test_cancelling_leaves_no_file(path: Path) -> None:
    async def main() -> None:
        with parted(lambda asked: SILENCE if asked.part else good(asked)) as parts:
            scan = scan_of_parts(da.AsyncClient(parts.base_url, token="t", concurrency=3), 6)
            task = asyncio.create_task(getattr(scan, f"to_{kind_of(path)}")(path))
            while len(parts.asked) < 4:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


@pytest.mark.usefixtures("before")
def test_closing_the_client_leaves_no_file(path: Path) -> None:
    with parted(lambda _asked: SILENCE) as parts:
        client = da.Client(parts.base_url, token="tok-test")
        threading.Timer(0.2, client.close).start()
        with pytest.raises(da.ClientClosedError):
            write(scan_of_parts(client, 3), kind_of(path), path)


INTERRUPTED = """
import signal, sys
import dataaccess as da

signal.signal(signal.SIGINT, signal.default_int_handler)
client = da.Client(sys.argv[1], token="tok-test")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
getattr(scan, "to_" + sys.argv[2])(sys.argv[3])
"""


@on_posix
@pytest.mark.usefixtures("before")
def test_ctrl_c_leaves_no_file_though_the_program_ends(path: Path) -> None:
    def endless(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 1))
        while True:
            connection.sendall(b"," + records(1, 5_000))

    with serving(endless) as server:
        command = [sys.executable, "-c", INTERRUPTED, server.base_url, kind_of(path), str(path)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as writer:  # noqa: S603
            while not server.requests:
                time.sleep(0.01)
            time.sleep(0.3)
            writer.send_signal(signal.SIGINT)
            _, told = writer.communicate(timeout=20)
        assert "KeyboardInterrupt" in told
        drafts = [found.name for found in path.parent.iterdir() if found.name != path.name]
        assert drafts == []


FULL = """
import resource, sys
import dataaccess as da

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
client = da.Client(sys.argv[1], token=sys.argv[2])
scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-03-01"))
try:
    getattr(scan, "to_" + sys.argv[3])(sys.argv[4])
except OSError as error:
    print(type(error).__name__, error.errno, error.path)
    print(error)
"""


@on_posix
@pytest.mark.usefixtures("before")
def test_a_full_disk_leaves_no_file(sandbox: da.Sandbox, path: Path) -> None:
    command = [sys.executable, "-c", FULL, sandbox.base_url, sandbox.issue_token(), kind_of(path), str(path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()  # noqa: S603
    assert told[0] == f"FileError {errno.EFBIG} {path}"
    assert "allow larger files there and try again: nothing was left behind" in told[1]


# Where it goes.


def test_what_is_there_is_replaced_at_the_end_and_not_before(connect: Any, path: Path) -> None:
    path.write_text("of last week")
    seen: list[tuple[list[str], str]] = []

    def answers(asked: Asked) -> bytes:
        seen.append((sorted(found.name for found in path.parent.iterdir()), path.read_text()))
        return good(asked)

    with parted(answers) as parts:
        write(scan_of_parts(connect(parts.base_url, concurrency=1), 3), kind_of(path), path)
    for names, text in seen:
        assert text == "of last week"
        *draft, old = names
        assert old == path.name
        assert all(name.startswith(f".{path.name}.") and name.endswith(".tmp") for name in draft)
    assert any(len(names) == 2 for names, _ in seen), "it is written beside its place"
    assert len(seen) == 3
    assert rows_in(path) == rows_of_all(3)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("of", [str, Path, lambda path: Path(str(path.parent) + "/./" + path.name)])
def test_a_path_is_a_text_or_a_path(connect: Any, path: Path, of: Any) -> None:
    with parted(good) as parts:
        write(scan_of_parts(connect(parts.base_url), 2), kind_of(path), of(path))
    assert rows_in(path) == rows_of_all(2)


def test_a_path_may_be_relative_and_of_any_letters(connect: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with parted(good) as parts:
        write(scan_of_parts(connect(parts.base_url), 2), kind_of(path), f"夏 'ü\".{kind_of(path)}")
    assert rows_in(path.parent / f"夏 'ü\".{kind_of(path)}") == rows_of_all(2)


def test_a_relative_path_is_that_of_the_call(connect: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)

    def answers(asked: Asked) -> bytes:
        os.chdir(path.parent.parent)
        return good(asked)

    with parted(answers) as parts:
        write(scan_of_parts(connect(parts.base_url), 2), kind_of(path), path.name)
    assert rows_in(path) == rows_of_all(2)


@on_posix
def test_a_file_has_the_mode_that_any_new_file_has(connect: Any, path: Path) -> None:
    (path.parent.parent / "new").touch()
    with parted(good) as parts:
        write(scan_of_parts(connect(parts.base_url), 1), kind_of(path), path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((path.parent.parent / "new").stat().st_mode)


@every_kind
def test_a_place_that_cannot_be_is_told_before_anything_is_sent(connect: Any, kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    places: dict[str | Path, int | None] = {
        tmp_path / "no" / "folder": errno.ENOENT,
        tmp_path / "file" / "rows": errno.ENOTDIR,
        tmp_path: None,
        "": None,
        "a\0b": None,
    }
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        for place, number in places.items():
            with pytest.raises(da.FileError) as caught:
                write(scan, kind, place)
            error = caught.value
            assert isinstance(error, OSError)
            assert error.errno == number
            assert error.path is not None
        assert parts.asked == []
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_name_that_is_too_long_is_told_before_anything_is_sent(connect: Any, tmp_path: Path) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        for name in ("x" * 300, "rows.csv/"):
            with pytest.raises(da.FileError):
                scan.to_csv(f"{tmp_path}/{name}")
        assert parts.asked == []


@every_kind
@pytest.mark.parametrize("place", [None, 7, b"rows", ["rows"]])
def test_what_is_no_path_is_a_type_error(client: Any, kind: str, place: Any) -> None:
    with pytest.raises(TypeError):
        write(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")), kind, place)


# No rows.


@pytest.mark.parametrize("requests", [1, 3])
def test_a_file_without_rows_has_its_columns(connect: Any, path: Path, requests: int) -> None:
    with parted(lambda _asked: answer([])) as parts:
        for schema, kinds in [(None, [pa.string()] * 2), ({"n": "timestamp"}, [pa.timestamp("us"), pa.string()])]:
            write(scan_of_parts(connect(parts.base_url), requests, schema=schema), kind_of(path), path)
            match kind_of(path):
                case "parquet":
                    table = pq.read_table(path)
                    assert (table.num_rows, table.schema.names, table.schema.types) == (0, ["n", "text"], kinds)
                case "csv":
                    assert path.read_bytes() == b"n,text\n"
                case _:
                    assert path.read_bytes() == b""


def test_codes_without_rows_have_their_types(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(allocated_time=da.on("1999-01-01"))
    scan.to_parquet(tmp_path / "codes.parquet")
    assert pq.read_schema(tmp_path / "codes.parquet").equals(scan.to_arrow().schema)


# The rest of it.


@pytest.mark.both_clients
def test_what_is_doubtful_is_warned_of(connect: Any, path: Path) -> None:
    with parted(lambda asked: answer([{"n": asked.part}])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.warns(da.AbsentAttributeWarning, match="'text'") as caught:
            write(scan, kind_of(path), path)
        assert len(caught) == 1
        if not hasattr(scan, "client"):
            assert caught[0].filename == __file__
        assert scan.last_stats.absent == ["text"]
    assert path.exists()


def test_two_may_write_at_once(sandbox: da.Sandbox, path: Path) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.days("2024-01-10", "2024-01-20"))
    threads = [threading.Thread(target=write, args=(scan, kind_of(path), path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(path.parent.iterdir()) == [path]
    text = path.read_bytes()
    write(scan, kind_of(path), path)
    assert path.read_bytes() == text


MEMORY = """
import resource, sys
import dataaccess as da

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

client = da.Client(sys.argv[1], token="tok-test")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
write = getattr(scan, "to_" + sys.argv[2])
write(sys.argv[3])
before = peak()
write(sys.argv[3])
print(scan.last_stats.rows, scan.last_stats.bytes >> 20, peak() - before)
"""


@on_posix
@pytest.mark.quiet
def test_a_large_answer_costs_no_more_memory_than_a_small_one(path: Path) -> None:
    part = b"," + records(100_000, 5_000)
    counts = {0: 5 * 2**20 // len(part), 1: 80 * 2**20 // len(part)}

    def large(connection: Any, number: int) -> None:
        connection.sendall(HEAD + OPENING + part[1:])
        for _ in range(1, counts[number]):
            connection.sendall(part)
        connection.sendall(CLOSING)
        raise Close

    with serving(large) as server:
        command = [sys.executable, "-c", MEMORY, server.base_url, kind_of(path), str(path)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    rows, size, grown = map(int, told.split())
    assert rows == counts[1] * 5_000
    assert size >= 79
    assert grown < 60, f"{grown} MiB more for an answer of {size} MiB"
    assert list(path.parent.iterdir()) == [path]
