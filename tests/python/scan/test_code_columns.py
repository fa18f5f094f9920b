"""Columns of promotion codes: names of statuses in each library, times of the last use, and the table of attributes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.arguments import about
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da
from dataaccess._types import AttributeInfo

DAY = da.on("2024-01-15")
TIME = "2024-01-15 10:00:00"
ATTRS = ["id", "code_status", "audience_type"]
NAMES = {1: "available", 3: "sent", 4: "used", -1003: "customer", -1007: "visitor", None: None}
STATUSES, AUDIENCES = ["available", "sent", "used"], ["customer", "visitor"]
USED, VISITOR = da.CodeStatus.USED, da.AudienceType.VISITOR
DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def scan_of(client: Any, **options: Any) -> Any:
    return client.scan_codes(ATTRS, allocated_time=DAY, decode_status=True, **options)


def test_names_stand_in_columns_and_numbers_in_rows(sandbox: da.Sandbox, tmp_path: Path) -> None:
    client = sandbox.client()
    plain, scan = client.scan_codes(ATTRS, allocated_time=DAY).collect().to_pylist(), scan_of(client)
    named = [{name: NAMES.get(value, value) for name, value in row.items()} for row in plain]
    assert scan.to_dicts() == scan.collect().to_pylist() == plain
    scan.to_parquet(tmp_path / "codes.parquet")
    scan.to_csv(tmp_path / "codes.csv")
    scan.to_folder(tmp_path / "folder")
    assert scan.to_folder(tmp_path / "folder").kept == 1
    assert scan.to_folder(tmp_path / "folder", refresh="all").refreshed == 1
    read = scan.read_folder(tmp_path / "folder")
    assert (read.to_pylist(), read.schema) == (
        plain,
        {"id": "string", "code_status": "string", "audience_type": "string"},
    )
    enums: Any = {"id": pl.String, "code_status": pl.Enum(STATUSES), "audience_type": pl.Enum(AUDIENCES)}
    lazy = scan.to_lazyframe()
    for frame in (scan.to_polars(), pl.concat(b.to_polars() for b in scan.batches()), read.to_polars(), lazy.collect()):
        assert (frame.to_dicts(), frame.schema) == (named, enums)
    assert lazy.collect_schema() == enums
    for condition in (pl.col("code_status") == "used", pl.col("code_status").is_in(["used"])):
        assert lazy.filter(condition).collect().equals(scan.to_polars().filter(condition))
    (part,) = (tmp_path / "folder").rglob("*.parquet")
    # A Parquet file orders the names by their first rows.
    for table in (scan.to_arrow(), pq.read_table(tmp_path / "codes.parquet"), next(scan.batches()).to_arrow()):
        assert (table.to_pylist(), table.schema.types) == (named, [pa.string(), DICTIONARY, DICTIONARY])
    assert pq.read_schema(part).field("code_status").type == DICTIONARY
    assert pd.read_csv(tmp_path / "codes.csv").code_status.tolist() == [row["code_status"] for row in named]
    counts: Any = duckdb.sql("select count(*) from scan where code_status = 'used'")
    assert counts.fetchall() == [(sum(row["code_status"] == "used" for row in named),)]
    for backend in (None, "pyarrow"):
        categories = scan.to_pandas(backend)[["code_status", "audience_type"]]
        assert [list(categories[name].cat.categories) for name in categories] == [STATUSES, AUDIENCES]


@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow"])
def test_a_status_selects_rows_of_pandas_by_its_number(client: Any, backend: Any) -> None:
    plain = client.scan_codes(ATTRS, allocated_time=DAY)
    wanted = [row["id"] for row in plain.to_dicts() if row["code_status"] == USED]
    assert 0 < len(wanted) < 73
    frame, names = plain.to_pandas(backend), scan_of(client).to_pandas(backend)
    for column in (frame.code_status, frame.code_status.astype(object)):
        assert frame[column == USED].id.tolist() == wanted
        assert frame[USED == column].id.tolist() == wanted  # noqa: SIM300 - the other way round
        assert frame[column.isin([USED])].id.tolist() == wanted
        assert (column != USED).sum() == 73 - len(wanted)
    assert (frame.audience_type == VISITOR).any()
    assert (frame.code_status >= da.CodeStatus.SENT).sum() == (frame.code_status >= 3).sum() > 0
    assert names[names.code_status == "used"].id.tolist() == wanted


def test_members_are_integers_with_names(client: Any) -> None:
    assert (USED == 4, USED != 4, USED > 3, USED < da.CodeStatus.SENT) == (True, False, True, False)
    assert ({4: "x"}[USED], f"{USED}", USED.name, da.CodeStatus(4)) == ("x", "4", "USED", USED)
    for kind, name, more in (
        (da.CodeStatus, "code_status", {}),
        (da.AudienceType, "audience_type", {"allocated_audience": "x"}),
    ):
        for given in (list(kind), next(iter(kind))):
            body = client.validate_codes(allocated_time=DAY, **{name: given}, **more)
            (condition,) = [one for one in body["filters"]["OR"][0]["AND"] if one["column"] == name]
            assert condition["value"] == (list(map(int, kind)) if isinstance(given, list) else [int(given)])
            assert {type(number) for number in condition["value"]} == {int}


def test_a_value_without_a_name_is_a_further_category(connect: Any, tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [{"code_status": value} for value in (1, 4.0, 2, None, "x", [1])]
    names = ["available", "used", "2", None, "x", "[1]"]
    with serving(always(response_of(odd))) as server:
        scan = connect(server.base_url).scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        assert scan.collect()["code_status"] == names
        frame, typed = scan.to_pandas(), scan.to_polars()
        assert frame.code_status.astype(object).where(frame.code_status.notna(), None).tolist() == names
        assert list(frame.code_status.cat.categories) == [*STATUSES, "2", "x", "[1]"]
        assert typed["code_status"].to_list() == names
        assert typed.schema == {"code_status": pl.Enum([*STATUSES, "2", "x", "[1]"])}
        scan.to_parquet(tmp_path / "odd.parquet")
        assert pq.read_table(tmp_path / "odd.parquet")["code_status"].to_pylist() == names
        with pytest.raises(Exception, match="code_status"):
            scan.to_lazyframe().collect()


def test_decoding_travels_with_tasks_and_pickles_and_yields_to_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        client = da.Client(sandbox.base_url)
        scan = client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        for copy in (pickle.loads(pickle.dumps(scan)), scan.tasks()[0], pickle.loads(pickle.dumps(scan.tasks()[0]))):
            assert copy.collect().schema == {"code_status": "string"}
        kept = scan_of(client, schema={"code_status": "int64"})
        assert kept.collect().schema == {**dict.fromkeys(ATTRS, "string"), "code_status": "int64"}
        assert kept.to_polars().schema["code_status"] == pl.Int64
        with pytest.raises(da.ValidationError, check=about("decode_status")):
            client.scan_codes(allocated_time=DAY, decode_status="yes")  # type: ignore[arg-type] # the mistake


@pytest.mark.parametrize("values", [[TIME, None, "2024-01-15T10:00:00.5"], [None, None]])
def test_the_last_use_is_a_time(connect: Any, values: Any) -> None:
    with serving(always(response_of([{"last_used_time": value} for value in values]))) as server:
        scan = connect(server.base_url).scan_codes(["last_used_time"], allocated_time=DAY)
        table = scan.collect()
        assert table.schema == scan.head(3).schema == next(scan.batches()).schema == {"last_used_time": "timestamp"}
        assert (table.stats.notes, len(table)) == ([], len(values))


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
