"""Runs over objects without known types: the first task with rows decides for all, in later runs too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.dataset
import pytest
from support import kinds
from support.raw_server import Close, http
from support.runs import by_value, failed_for_good, giving, parts, responding, rows_in, tasks_done, values_asked
from support.streams import HEAD, response_of

import dataaccess as da

BIG = 70_001


def types_of(folder: Path) -> list[dict[str, Any]]:
    """The columns of each file."""
    return [dict(pl.read_parquet_schema(part)) for part in parts(folder)]


def test_the_first_task_with_rows_sets_the_types_of_all(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        "a": [],
        "b": [{"n": 1, "text": "x"}],
        "c": [{"n": None, "text": None}],
        "d": [],
        "e": [{"n": 2, "text": "y", "more": 1}],
    }
    with responding(giving(records)) as server:
        report = by_value(connect(server.base_url), list(records)).to_folder(tmp_path)
        # One by one, until there are types.
        assert values_asked(server)[:2] == ["a", "b"]
    # The first was asked before there were types: its file is written once there are.
    assert types_of(tmp_path) == [{"n": pl.Int64, "text": pl.String}] * 5
    assert [(task.rows, task.bytes > 0) for task in report.files] == [(rows, True) for rows in (0, 1, 1, 0, 1)]
    assert pyarrow.dataset.dataset(tmp_path).to_table().to_pylist() == rows_in(tmp_path)
    assert [row["n"] for row in rows_in(tmp_path)] == [1, None, 2]


def test_a_value_of_another_type_fails_its_task_alone_and_says_what_to_write(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        "a": [{"n": 1, "text": "x"}],
        "b": [{"n": 2, "text": "x"}, {"n": "two", "text": "x"}],
        "c": [{"n": 3, "text": "x"}],
    }
    with responding(giving(records)) as server:
        scan = by_value(connect(server.base_url), list(records))
        with pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path)
        (error,) = caught.value.failed.values()
        assert isinstance(error, kinds.Record)
        assert (error.row, error.column, kinds.fixed_by(error)[0]) == (1, "n", "n")
        assert [row["n"] for row in rows_in(tmp_path)] == [1, 3]
        # As it says.
        mended = by_value(connect(server.base_url), list(records), schema={"n": "json"})
        assert mended.to_folder(tmp_path).rows == 4
        assert [json.loads(row["n"]) for row in rows_in(tmp_path)] == [1, 2, "two", 3]
        # A complete run is not requested again in other types.
        with pytest.raises(kinds.Mismatch) as refused:
            by_value(connect(server.base_url), list(records), schema={"n": "int64"}).to_folder(tmp_path)
        assert refused.value.field == "schema"


def test_a_schema_that_changes_no_column_keeps_the_tasks_that_are_done(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        "a": [],
        "b": [{"n": 1, "text": "x"}],
        "c": [{"n": "two", "text": "y"}],
    }
    with responding(giving(records)) as server:
        with pytest.raises(da.ScanIncompleteError):
            by_value(connect(server.base_url), list(records)).to_folder(tmp_path)
        records["c"] = [{"n": 2, "text": "y"}]
        before = len(server.requests)
        same = by_value(connect(server.base_url), list(records), schema={"n": "int64", "text": "string"})
        assert [task.state == "kept" for task in same.to_folder(tmp_path).files] == [True, True, False]
        assert len(server.requests) == before + 1


def test_a_schema_that_changes_a_column_asks_again_for_the_tasks_with_files(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        "a": [],
        "b": [{"n": 1, "text": "x"}],
        "c": [{"n": 2.5, "text": "x"}],
    }
    with responding(giving(records)) as server:
        with pytest.raises(da.ScanIncompleteError):
            by_value(connect(server.base_url), list(records)).to_folder(tmp_path)
        changed = by_value(connect(server.base_url), list(records), schema={"n": "float64"})
        assert [task.state == "kept" for task in changed.to_folder(tmp_path).files] == [False, False, False]
    assert types_of(tmp_path) == [{"n": pl.Float64, "text": pl.String}] * 3
    assert [row["n"] for row in rows_in(tmp_path)] == [1.0, 2.5]


def test_types_hold_for_the_next_run(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        "a": [{"n": 1, "text": "x"}],
        "b": [{"n": "bad", "text": "x"}],
        "c": [{"n": "bad", "text": "x"}],
    }
    with responding(giving(records)) as server:
        scan = by_value(connect(server.base_url), list(records))
        with pytest.raises(da.ScanIncompleteError):
            scan.to_folder(tmp_path)
        # Alone these would be text, and a fraction.
        records["b"], records["c"] = [{"n": None, "text": "x"}], [{"n": 2.5, "text": "x"}]
        with pytest.raises(da.ScanIncompleteError) as caught:
            by_value(connect(server.base_url), list(records)).to_folder(tmp_path)
        assert failed_for_good(caught.value) == [2]
    assert types_of(tmp_path) == [{"n": pl.Int64, "text": pl.String}] * 2


def test_where_no_task_has_rows_there_are_no_files(connect: Any, tmp_path: Path) -> None:
    with responding(giving({"a": [], "b": []})) as server:
        for asked in (2, 4):
            empty = by_value(connect(server.base_url), ["a", "b"])
            report = empty.to_folder(tmp_path)
            assert len(server.requests) == asked
    assert (report.rows, [file.bytes for file in report.files]) == (0, [0, 0])
    assert [(task.path, task.state == "kept") for task in report.files] == [(None, False)] * 2
    with pytest.raises(da.ScanIncompleteError):
        empty.read_folder(tmp_path)
    assert empty.read_folder(tmp_path, missing="ignore").column_names == ["n", "text"]
    assert parts(tmp_path) == []


def breaking_off(first: list[dict[str, Any]], then: list[dict[str, Any]]) -> Any:
    """Cuts off after many records, and sends others on a retry."""

    def give(connection: Any, _value: str, before: int) -> None:
        whole = response_of(first if before == 0 else then)
        connection.sendall(HEAD + whole.partition(b"\r\n\r\n")[2][: -3 if before == 0 else None])
        raise Close

    return give


def test_rows_that_were_taken_back_leave_neither_rows_nor_types(connect: Any, tmp_path: Path) -> None:
    many = [{"n": number, "text": "x"} for number in range(BIG)]
    with responding(breaking_off(many, [])) as server:
        report = by_value(connect(server.base_url), ["a"]).to_folder(tmp_path)
        assert (len(server.requests), report.rows, report.retries) == (2, 0, 1)
    assert parts(tmp_path) == []
    assert report.files[0].bytes == 0


def test_rows_that_were_taken_back_are_not_twice_in_the_file(connect: Any, tmp_path: Path) -> None:
    many: list[dict[str, Any]] = [{"n": number, "text": "x"} for number in range(BIG)]
    # Of another type, which what is void does not decide.
    others: list[dict[str, Any]] = [{"n": f"n-{number}", "text": "x"} for number in range(BIG)]
    for number, then in enumerate([many[::-1], others]):
        with responding(breaking_off(many, then)) as server:
            report = by_value(connect(server.base_url), ["a"]).to_folder(tmp_path / f"{number}")
            assert (len(server.requests), report.rows) == (2, BIG)
        assert rows_in(tmp_path / f"{number}") == then


def test_a_task_without_rows_has_a_file_as_soon_as_there_are_types(connect: Any, tmp_path: Path) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        if value == "b" and is_failing:
            connection.sendall(http(b"", "500 Internal Server Error"))
        else:
            connection.sendall(response_of([] if value == "a" else [{"n": 1, "text": "x"}]))

    is_failing = True
    with responding(give) as server:
        values = by_value(connect(server.base_url, retry_for=0), ["a", "b"])
        with pytest.raises(da.ScanIncompleteError) as caught:
            values.to_folder(tmp_path)
        # The first task is done in this report; nothing says so in the folder, so it is requested again.
        assert caught.value.report is not None
        assert [task.path for task in caught.value.report.files] == [None]
        assert tasks_done(tmp_path) == []
        is_failing = False
        report = values.to_folder(tmp_path)
    assert [(task.rows, task.state == "kept") for task in report.files] == [(0, False), (1, False)]
    assert len(parts(tmp_path)) == 2


def test_types_hold_for_other_days_of_other_calls(connect: Any, tmp_path: Path) -> None:
    rows = [{"id": "a", "at": "2024-01-01 10:00:00", "size": 1}, {"id": "b", "at": "2024-01-02 10:00:00", "size": None}]
    with da.Sandbox() as service:
        service.declare("visit", 7, {"id": "string", "at": "datetime", "size": "number"})
        service.load("visit", rows)
        client = connect(service)

        def visits(day: str, **options: Any) -> Any:
            where = da.col("at").on(day)
            return client.scan_items("visit", ["id", "size"], where, item_type_id=7, **options)

        for day in ("2024-01-01", "2024-01-02", "2024-01-03"):
            (task,) = visits(day).to_folder(tmp_path).files
            # Alone, the second would be of strings, and the third would have no file.
            assert visits(day).read_folder(tmp_path).schema == {"id": "string", "size": "int64"}
            assert task.path is not None
        for day, refresh in (("2024-01-04", None), ("2024-01-01", "all")):
            with pytest.raises(kinds.Mismatch, check=lambda error: error.field == "schema"):
                visits(day, schema={"size": "string"}).to_folder(tmp_path, refresh=refresh)
