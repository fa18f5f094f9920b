"""Names of statuses: categories of each library, and `da.CodeStatus`, which selects rows by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da

DAY = da.on("2024-01-15")
ATTRS = ["id", "code_status", "audience_type"]
STATUSES = ["available", "sent", "used"]
USED, VISITOR = da.CodeStatus.USED, da.AudienceType.VISITOR
DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def scan_of(client: Any, **options: Any) -> Any:
    return client.scan_codes(ATTRS, allocated_time=DAY, decode_status=True, **options)


def odd_scan(client: Any) -> Any:
    return client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True)


ODD: list[dict[str, Any]] = [{"code_status": value} for value in (1, 4.0, 2, None, "x", [1])]
ODD_NAMES = ["available", "used", "2", None, "x", "[1]"]


def test_each_library_has_its_categories(client: Any, tmp_path: Path) -> None:
    scan = scan_of(client)
    frame, typed = scan.to_pandas(), scan.to_polars()
    assert list(frame.code_status.cat.categories) == STATUSES
    assert list(frame.audience_type.cat.categories) == ["customer", "visitor"]
    assert isinstance(scan.to_pandas("pyarrow").code_status.dtype, pd.CategoricalDtype)
    assert typed.schema == {
        "id": pl.String,
        "code_status": pl.Enum(STATUSES),
        "audience_type": pl.Enum(["customer", "visitor"]),
    }
    assert scan.to_arrow().schema.types == [pa.string(), DICTIONARY, DICTIONARY]
    batch = next(iter(scan.batches()))
    assert batch.to_polars().schema == typed.schema
    assert batch.to_arrow().schema.types[1] == DICTIONARY
    assert frame.code_status.tolist() == typed["code_status"].to_list() == scan.collect()["code_status"]
    scan.to_parquet(tmp_path / "codes.parquet")
    # A Parquet file orders the names by their first rows.
    table = pq.read_table(tmp_path / "codes.parquet")
    assert (table.schema, table.to_pylist()) == (scan.to_arrow().schema, scan.to_arrow().to_pylist())
    assert {*pd.read_parquet(tmp_path / "codes.parquet").code_status.cat.categories} <= {*STATUSES}
    assert pl.read_parquet(tmp_path / "codes.parquet")["code_status"].to_list() == typed["code_status"].to_list()


def test_duckdb_and_csv_have_the_names(sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = scan_of(sandbox.client())
    counts: Any = duckdb.sql("select count(*) from scan where code_status = 'used'")
    assert counts.fetchall() == [(scan.to_polars().filter(pl.col("code_status") == "used").height,)]
    scan.to_csv(tmp_path / "codes.csv")
    assert set(pd.read_csv(tmp_path / "codes.csv").code_status) <= set(STATUSES)


def test_a_folder_has_dictionaries_and_is_read(client: Any, tmp_path: Path) -> None:
    scan = scan_of(client)
    scan.to_folder(tmp_path)
    assert scan.read_folder(tmp_path).to_pylist() == scan.collect().to_pylist()
    (part,) = tmp_path.rglob("*.parquet")
    assert pq.read_schema(part).field("code_status").type == DICTIONARY
    report = scan.to_folder(tmp_path, refresh="all")
    assert report.refreshed == 1
    assert scan.read_folder(tmp_path).to_polars().schema["code_status"] == pl.Enum(STATUSES)


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


def test_a_frame_of_plain_rows_is_selected_too(client: Any) -> None:
    rows = client.search_codes(["code_status"], allocated_time=DAY)
    assert (pd.DataFrame(rows).code_status == USED).sum() == sum(row["code_status"] == USED for row in rows) > 0


def test_polars_takes_the_number_or_the_name(client: Any) -> None:
    plain, decoded = client.scan_codes(ATTRS, allocated_time=DAY).to_polars(), scan_of(client).to_polars()
    wanted = plain.filter(pl.col("code_status") == 4)["id"].to_list()
    assert plain.filter(pl.col("code_status") == USED)["id"].to_list() == wanted
    assert plain.filter(plain["code_status"] == USED)["id"].to_list() == wanted
    assert decoded.filter(pl.col("code_status") == "used")["id"].to_list() == wanted
    # An Enum of polars is compared with strings alone, and says so.
    with pytest.raises(pl.exceptions.ComputeError):
        decoded.filter(pl.col("code_status") == USED)


def test_lazy_queries_have_the_enum(sandbox: da.Sandbox) -> None:
    scan = scan_of(sandbox.client())
    lazy = scan.to_lazyframe()
    assert lazy.collect_schema()["code_status"] == pl.Enum(STATUSES)
    for condition in (pl.col("code_status") == "used", pl.col("code_status").is_in(["used"])):
        found = lazy.filter(condition).collect()
        assert found.equals(scan.to_polars().filter(condition))
        assert found.schema == scan.to_polars().schema


def test_a_value_without_a_name_is_a_further_category(connect: Any, tmp_path: Path) -> None:
    with serving(always(response_of(ODD))) as server:
        scan = odd_scan(connect(server.base_url))
        assert scan.collect()["code_status"] == ODD_NAMES
        frame, typed = scan.to_pandas(), scan.to_polars()
        assert frame.code_status.astype(object).where(frame.code_status.notna(), None).tolist() == ODD_NAMES
        assert list(frame.code_status.cat.categories) == [*STATUSES, "2", "x", "[1]"]
        assert typed["code_status"].to_list() == ODD_NAMES
        assert typed.schema == {"code_status": pl.Enum([*STATUSES, "2", "x", "[1]"])}
        scan.to_parquet(tmp_path / "odd.parquet")
        assert pq.read_table(tmp_path / "odd.parquet")["code_status"].to_pylist() == ODD_NAMES


def test_a_lazy_query_cannot_have_further_categories() -> None:
    with serving(always(response_of(ODD))) as server:
        lazy = odd_scan(da.Client(server.base_url, token="tok")).to_lazyframe()
        with pytest.raises(Exception, match="code_status"):
            lazy.collect()


def test_a_type_of_the_schema_overrides_it(connect: Any, sandbox: da.Sandbox) -> None:
    scan = scan_of(connect(sandbox), schema={"code_status": "int64"})
    assert scan.to_polars().schema["code_status"] == pl.Int64


def test_members_are_integers_with_names() -> None:
    assert (USED == 4, USED != 4, USED > 3, USED < da.CodeStatus.SENT) == (True, False, True, False)
    assert ({4: "x"}[USED], f"{USED}", USED.name, da.CodeStatus(4)) == ("x", "4", "USED", USED)
    assert isinstance(VISITOR, int)
