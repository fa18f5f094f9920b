"""Doubts are decided before anything replaces anything: `on_doubt=`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arguments import about
from support.objects import temporary_files
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da

FORMATS = ["to_parquet", "to_csv", "to_jsonl"]


def row(name: str, day: str = "2024-01-01", **values: Any) -> dict[str, Any]:
    """A code."""
    return {"id": name, "allocated_time": f"{day} 09:00:00", **values}


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    """A service whose days are not ours: a request for a day returns rows of another one."""
    with da.Sandbox(switches={"day_zone": "Asia/Tokyo"}) as service:
        service.load("promotion_code", [row(f"a-{n}") for n in range(5)])
        service.load("promotion_code", [{"id": "late", "allocated_time": "2023-12-31 16:00:00"}])
        yield service


def doubtful(client: Any) -> Any:
    """A scan with a stray row."""
    return client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))


@pytest.mark.both_clients
@pytest.mark.parametrize("method", FORMATS)
def test_a_file_is_not_replaced_if_its_warning_is_an_error(
    connect: Any, service: da.Sandbox, tmp_path: Path, method: str
) -> None:
    path = tmp_path / f"codes.{method.removeprefix('to_')}"
    path.write_bytes(b"before")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(da.StrayDayWarning):
            getattr(doubtful(connect(service)), method)(path)
    assert path.read_bytes() == b"before"
    with pytest.raises(da.DoubtfulDataError, match="2023-12-31 16:00:00") as caught:
        getattr(doubtful(connect(service)), method)(path, on_doubt="error")
    assert (caught.value.exit_code, caught.value.retryable, path.read_bytes()) == (65, False, b"before")
    assert temporary_files(tmp_path) == []
    with pytest.warns(da.StrayDayWarning):
        getattr(doubtful(connect(service)), method)(path)
    assert path.read_bytes() != b"before"


@pytest.mark.both_clients
@pytest.mark.parametrize("method", FORMATS)
def test_a_function_decides_between_arrived_and_replaced(
    connect: Any, sandbox: da.Sandbox, tmp_path: Path, method: str
) -> None:
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    path = tmp_path / f"codes.{method.removeprefix('to_')}"
    path.write_bytes(b"before")
    seen: list[Any] = []

    def decide(stats: da.ScanStats) -> bool:
        seen.append((stats.rows, path.read_bytes()))
        return stats.rows > 73

    with pytest.raises(da.DoubtfulDataError, match="on_doubt"):
        getattr(scan, method)(path, on_doubt=decide)
    assert (seen, path.read_bytes()) == ([(73, b"before")], b"before")
    getattr(scan, method)(path, on_doubt=lambda stats: stats.rows > 0)
    assert path.read_bytes() != b"before"
    # What the function raises is raised, and nothing is left behind.
    with pytest.raises(ZeroDivisionError):
        getattr(scan, method)(path, on_doubt=lambda stats: stats.rows / 0)
    assert temporary_files(tmp_path) == []


def test_an_open_file_gets_nothing_that_is_refused(connect: Any, service: da.Sandbox) -> None:
    target = io.BytesIO()
    with pytest.raises(da.DoubtfulDataError):
        doubtful(connect(service)).to_csv(target, on_doubt="error")
    assert target.getvalue() == b""


@pytest.mark.fault("S17")
@pytest.mark.both_clients
@pytest.mark.parametrize("how", ["warnings", "error", "function"])
def test_a_run_replaces_no_file_by_a_doubtful_one(connect: Any, tmp_path: Path, how: str) -> None:
    codes = [row(f"{day}-{n}", f"2024-01-0{day}") for day in (1, 2, 3) for n in range(5)]

    def scan_of(service: da.Sandbox) -> Any:
        days = da.days("2024-01-01", "2024-01-04")
        return connect(service).scan_codes(["id", "allocated_time"], allocated_time=days)

    with da.Sandbox() as before, da.Sandbox(switches={"day_zone": "Asia/Tokyo"}) as after:
        before.load("promotion_code", codes)
        after.load("promotion_code", [*codes, {"id": "late", "allocated_time": "2024-01-01 16:00:00"}])
        scan_of(before).to_folder(tmp_path)
        rows = scan_of(before).read_folder(tmp_path).to_pylist()
        answers: dict[str, dict[str, Any]] = {
            "warnings": {},
            "error": {"on_doubt": "error"},
            "function": {"on_doubt": lambda task: not task.doubts},
        }
        run = partial(scan_of(after).to_folder, tmp_path, refresh="all", same_service=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(da.ScanIncompleteError) as caught:
                run(**answers[how])
        ((name, error),) = caught.value.failed.items()
        assert isinstance(error, da.DoubtfulDataError)
        assert (name[:10], caught.value.exit_code) == ("2024-01-02", 65)
        report = caught.value.report
        assert report is not None
        assert [(task.day, task.state == "kept") for task in report.files] == [
            ("2024-01-01", False),
            ("2024-01-02", True),
            ("2024-01-03", False),
        ]
        with pytest.warns(da.StrayDayWarning):
            assert scan_of(after).read_folder(tmp_path).to_pylist() == rows
        with pytest.warns(da.StrayDayWarning):
            run()
        with pytest.warns(da.StrayDayWarning):
            assert len(scan_of(after).read_folder(tmp_path)) == 16


def test_a_function_sees_every_task_of_a_run(connect: Any, sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06"))
    seen: list[da.FileReport] = []

    def accept(task: da.FileReport) -> bool:
        seen.append(task)
        return True

    scan.to_folder(tmp_path, on_doubt=accept)
    assert sorted(str(task.day) for task in seen) == [f"2024-01-0{day}" for day in range(1, 6)]
    assert {task.path for task in seen} == {None}
    with pytest.raises(da.ScanIncompleteError, match="on_doubt") as caught:
        scan.to_folder(tmp_path / "other", on_doubt=lambda _: False)
    assert [type(error) for error in caught.value.failed.values()] == [da.DoubtfulDataError] * 5
    with pytest.raises(ZeroDivisionError):
        scan.to_folder(tmp_path / "third", on_doubt=lambda task: task.rows / 0)


def test_what_all_tasks_together_show_is_an_error_too(connect: Any, tmp_path: Path) -> None:
    with serving(always(response_of([{"n": 1}]))) as server:
        where = da.col("n").matches([1])
        scan = connect(server.base_url).scan_items(
            "store", ["n", "siz"], where, item_type_id=7, schema={"n": "int64", "siz": "string"}
        )
        with pytest.raises(da.DoubtfulDataError, match="'siz'") as caught:
            scan.to_folder(tmp_path, on_doubt="error")
    assert caught.value.report is not None
    assert caught.value.exit_code == 65


@pytest.mark.both_clients
@pytest.mark.parametrize("method", [*FORMATS, "to_folder"])
def test_an_answer_that_is_neither_yes_nor_no_is_an_error(
    connect: Any, sandbox: da.Sandbox, tmp_path: Path, method: str
) -> None:
    async def refuses(_found: Any) -> bool:
        return False

    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for answer in (refuses, lambda _: "no"):
        with pytest.raises(da.ValidationError, check=about("on_doubt")):
            getattr(scan, method)(tmp_path / "target", on_doubt=answer)
    assert [path for path in tmp_path.rglob("*.parquet") if path.is_file()] == []
    assert not (tmp_path / "target").is_file()
    getattr(scan, method)(tmp_path / "target", on_doubt=lambda _: np.bool_(True))


@pytest.mark.parametrize("value", ["raise", None, 3])
def test_another_value_is_refused(connect: Any, sandbox: da.Sandbox, tmp_path: Path, value: Any) -> None:
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    sandbox.clear_requests()
    for use in (scan.to_folder, scan.to_parquet):
        with pytest.raises(da.ValidationError, check=about("on_doubt")):
            use(tmp_path / "x", on_doubt=value)
    assert list(tmp_path.iterdir()) == []
