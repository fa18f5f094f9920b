"""Columns of promotion codes: names of statuses, times whose type is not specified, and the table of attributes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import kinds
from support.arguments import about
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da
from dataaccess._types import AttributeInfo

DAY = da.on("2024-01-15")
TIME = "2024-01-15 10:00:00"


def typed(connect: Any, rows: list[dict[str, Any]], **options: Any) -> Any:
    with serving(always(response_of(rows))) as server:
        return connect(server.base_url).scan_codes(list(rows[0]), allocated_time=DAY, **options).collect()


@pytest.mark.parametrize("values", [[TIME, None, "2024-01-15T10:00:00.5"], [None, None]])
def test_the_last_use_is_a_time(connect: Any, values: Any) -> None:
    table = typed(connect, [{"last_used_time": value} for value in values])
    assert table.schema == {"last_used_time": "timestamp"}
    assert (table.stats.notes, len(table)) == ([], len(values))


def test_all_forms_have_that_type(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(["last_used_time"], allocated_time=DAY)
    assert str(scan.to_pandas()["last_used_time"].dtype) == "datetime64[us]"
    assert scan.to_polars().schema == {"last_used_time": pl.Datetime("us")}
    assert scan.head(3).schema == {"last_used_time": "timestamp"}
    assert next(iter(scan.batches())).schema == {"last_used_time": "timestamp"}
    scan.to_parquet(tmp_path / "codes.parquet")
    assert pl.read_parquet(tmp_path / "codes.parquet").equals(scan.to_polars())


@pytest.mark.parametrize("value", ["yesterday", 1705312800000, {"at": TIME}])
def test_results_of_something_else_say_which_schema_to_pass(connect: Any, tmp_path: Path, value: Any) -> None:
    with serving(always(response_of([{"last_used_time": TIME}, {"last_used_time": value}]))) as server:
        scan = connect(server.base_url).scan_codes(["last_used_time"], allocated_time=DAY)
        uses = (lambda: list(scan.batches()), lambda: scan.to_parquet(tmp_path / "x.parquet"), scan.collect)
        for use in uses:
            with pytest.raises(da.DataAccessError, match="last_used_time") as caught:
                use()
            assert kinds.fixed_by(caught.value) == ["last_used_time", "string"]
        cured = connect(server.base_url).scan_codes(
            ["last_used_time"], allocated_time=DAY, schema={"last_used_time": "string"}
        )
        assert sum(batch.num_rows for batch in cured.batches()) == 2


def test_a_schema_of_strings_keeps_them(client: Any) -> None:
    scan = client.scan_codes(["last_used_time"], allocated_time=DAY, schema={"last_used_time": "string"})
    assert scan.collect().schema == {"last_used_time": "string"}
    assert scan.last_stats.notes == []


def test_names_of_statuses_stand_in_columns_and_numbers_in_rows(client: Any, tmp_path: Path) -> None:
    plain = client.scan_codes(["id", "code_status", "audience_type"], allocated_time=DAY).collect().to_pylist()
    scan = client.scan_codes(["id", "code_status", "audience_type"], allocated_time=DAY, decode_status=True)
    names = {1: "available", 3: "sent", 4: "used", -1003: "customer", -1007: "visitor", None: None}
    expected = [{name: names.get(value, value) for name, value in row.items()} for row in plain]
    assert scan.to_polars().to_dicts() == expected
    assert [row for batch in scan.batches() for row in batch.to_polars().to_dicts()] == expected
    scan.to_parquet(tmp_path / "codes.parquet")
    assert pl.read_parquet(tmp_path / "codes.parquet").to_dicts() == expected
    assert scan.to_dicts() == scan.collect().to_pylist() == plain
    assert {row["code_status"] for row in expected} > {"sent", "used"} - {"sent"}


def test_a_folder_of_names_is_resumed_and_read(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
    scan.to_folder(tmp_path)
    assert all(task.state == "kept" for task in scan.to_folder(tmp_path).files)
    assert scan.read_folder(tmp_path).to_pylist() == scan.collect().to_pylist()
    assert scan.read_folder(tmp_path).schema == {"code_status": "string"}


def test_a_status_that_has_no_name_stays_a_number(connect: Any) -> None:
    rows = [{"code_status": value} for value in (1, 4.0, 2, None, "x", [1])]
    assert typed(connect, rows, decode_status=True)["code_status"] == ["available", "used", "2", None, "x", "[1]"]


def test_decoding_travels_with_tasks_and_pickles_and_yields_to_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        client = da.Client(sandbox.base_url)
        scan = client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        for copy in (pickle.loads(pickle.dumps(scan)), scan.tasks()[0], pickle.loads(pickle.dumps(scan.tasks()[0]))):
            assert copy.collect().schema == {"code_status": "string"}
        chosen = {"code_status": "int64"}
        kept = client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True, schema=chosen)  # type: ignore[arg-type] # a variable
        assert kept.collect().schema == chosen
        with pytest.raises(da.ValidationError, check=about("decode_status")):
            client.scan_codes(allocated_time=DAY, decode_status="yes")  # type: ignore[arg-type] # the mistake


def test_the_attributes_are_those_of_scans_and_of_the_page(client: Any) -> None:
    attributes = da.PROMOTION_CODE_ATTRIBUTES
    table = client.scan_codes(list(attributes), allocated_time=DAY).collect()
    assert table.schema == {name: info.type for name, info in attributes.items()}
    assert all(type(info) is AttributeInfo for info in attributes.values())
    page = (Path(__file__).parents[3] / "docs" / "searches.md").read_text(encoding="utf-8")
    for name, (kind, meaning) in attributes.items():
        assert f"| `{name}` | `{kind}` | {meaning} |" in page
    with pytest.raises(TypeError):
        attributes["x"] = attributes["id"]  # type: ignore[index] # the mistake
