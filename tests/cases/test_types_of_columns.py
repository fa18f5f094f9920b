"""Types of columns, and the forms of their values."""

from __future__ import annotations

import csv
import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from support import kinds
from support.commands import run

import dataaccess as da


def rows(scan: Any, path: Path) -> list[dict[str, Any]]:
    """The rows of a file with JSON lines."""
    scan.to_jsonl(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# The values of a column in each form of a scan; the path is of a new file or folder.
FORMS: dict[str, Callable[[Any, Path, str], list[Any]]] = {
    "table": lambda scan, _, name: [*scan.collect()[name]],
    "pandas": lambda scan, _, name: [None if pd.isna(value) else value for value in scan.to_pandas()[name]],
    "polars": lambda scan, _, name: scan.to_polars()[name].to_list(),
    "arrow": lambda scan, _, name: scan.to_arrow()[name].to_pylist(),
    "query": lambda scan, _, name: scan.to_lazyframe().collect()[name].to_list(),
    "batches": lambda scan, _, name: [v for batch in scan.batches() for v in batch.to_arrow()[name].to_pylist()],
    "csv": lambda scan, path, name: (scan.to_csv(path), pl.read_csv(path)[name].to_list())[1],
    "lines": lambda scan, path, name: [row[name] for row in rows(scan, path)],
    "parquet": lambda scan, path, name: (scan.to_parquet(path), pl.read_parquet(path)[name].to_list())[1],
    "folder": lambda scan, path, name: (scan.to_folder(path), pl.read_parquet(path)[name].to_list())[1],
    "read_folder": lambda scan, path, name: (scan.to_folder(path), [*scan.read_folder(path)[name]])[1],
    "duckdb": lambda scan, _, name: [row[0] for row in duckdb.from_arrow(scan).select(name).fetchall()],
}


# A column that is null on the first day takes the type of its first value, in folders, files and streams.
# Source: a trial of nightly jobs.


def scan_of(client: Any, days: int, first: int = 1) -> da.Scan:
    on = da.days(f"2024-01-{first:02}", f"2024-01-{first + days:02}")
    scan: da.Scan = client.scan_items("store", ["id", "v"], da.col("t").on(on))
    return scan


# A query requests the first day twice: for the types of its columns, and for rows.
@pytest.mark.parametrize("form", [form for form in FORMS if form != "query"])
@pytest.mark.parametrize("value", [7, 7.5, True, "text"])
def test_the_first_value_has_the_type_in_one_run(client_of: Any, tmp_path: Path, form: str, value: Any) -> None:
    client = client_of([{"id": "a", "v": None}], [], [{"id": "b", "v": value}], [{"id": "c", "v": None}], concurrency=1)
    assert FORMS[form](scan_of(client, 4), tmp_path / form, "v") == [None, value, None]


@pytest.mark.parametrize("runs", [[(1, 1), (1, 2), (1, 3)], [(1, 1), (2, 1), (3, 1)]])
def test_the_first_value_has_the_type_in_several_runs(
    client_of: Any, tmp_path: Path, runs: list[tuple[int, int]]
) -> None:
    client = client_of([{"id": "a", "v": None}], [{"id": "b", "v": 7}], [{"id": "c", "v": None}], concurrency=1)
    for first, days in runs:
        scan_of(client, days, first).to_folder(tmp_path)
    assert pl.read_parquet(tmp_path)["v"].to_list() == [None, 7, None]
    assert client.stats.requests == 3


def test_a_value_of_another_type_still_fails_its_day(client_of: Any, tmp_path: Path) -> None:
    client = client_of([{"id": "a"}], [{"id": "b", "v": 7}], [{"id": "c", "v": "x"}], concurrency=1)
    with pytest.raises(da.ScanIncompleteError):
        scan_of(client, 3).to_folder(tmp_path)


# Among strings, another value becomes its JSON text without quotes; the column is named once in the warnings.
# Source: a trial of notebooks.

VALUES: list[Any] = ["C01", 7, None, {"a": [1, " b"]}, True, 1.50, "7"]
TEXTS = ["C01", "7", None, '{"a":[1," b"]}', "true", "1.5", "7"]
RECORDS = [{"x": value, "y": number} for number, value in enumerate(VALUES)]


@pytest.mark.filterwarnings("always::dataaccess.DataAccessWarning")
# JSON lines have the values as the service sent them.
@pytest.mark.parametrize("form", [form for form in FORMS if form != "lines"])
@pytest.mark.parametrize("item_type", ["store", "customer"])
def test_strings_of_a_mixed_column_stay(
    client_of: Any, form: str, item_type: str, tmp_path: Path, recwarn: Any
) -> None:
    scan = client_of(RECORDS).scan_items(item_type, ["x", "y"], da.col("y").equals("1"))
    found = FORMS[form](scan, tmp_path / form, "x")
    assert [text and text.replace(": ", ":").replace(", ", ",") for text in found] == TEXTS
    named = [str(warning.message) for warning in recwarn if "'x'" in str(warning.message)]
    assert len(named) == (form != "duckdb")
    assert not [warning for warning in recwarn if "'y'" in str(warning.message)]


@pytest.mark.parametrize("kind", ["string", "json"])
def test_a_declared_mixed_column_is_not_named_and_only_json_quotes(client_of: Any, kind: Any) -> None:
    scan = client_of(RECORDS[:2]).scan_items("store", ["x"], da.col("y").equals("1"), schema={"x": kind})
    assert scan.to_arrow()["x"].to_pylist() == (['"C01"', "7"] if kind == "json" else ["C01", "7"])
    assert scan.last_stats.warnings == []


# `customer_id` and `name` of customers are strings, whatever the first rows have.
# Source: API specification 2.3.

WHERE = da.col("age").equals(1)


def test_ids_and_names_of_customers_are_strings_before_any_row(client_of: Any) -> None:
    scan = client_of([]).scan_items("customer", ["customer_id", "name", "age"], WHERE)
    assert dict(scan.schema) == {"customer_id": "string", "name": "string", "age": "inferred"}
    assert client_of([]).scan_items("store", ["customer_id"], WHERE).schema["customer_id"] == "inferred"


def test_another_value_of_them_is_its_json_text_and_named(client_of: Any) -> None:
    client = client_of([{"customer_id": "C01", "name": "x"}, {"customer_id": 7, "name": "y"}])
    scan = client.scan_items("customer", ["customer_id", "name"], WHERE)
    with pytest.warns(da.DataAccessWarning, match="customer_id"):
        assert scan.to_pandas()["customer_id"].to_list() == ["C01", "7"]
    assert len(scan.last_stats.warnings) == 1


# Ids that are floats are refused with the one advice that keeps leading zeros; many bad values show three of a kind.
# Source: a trial of notebooks; `pandas.read_csv` reads ids as floats if one is missing.

UNREAD = pd.Series([*np.arange(1.0, 5_000), np.nan])


@pytest.mark.parametrize(
    ("values", "shown", "missing"),
    [
        (UNREAD, ["1.0", "2.0", "3.0"], 4_997),
        ([1.0] * 9 + [True] * 9 + [None], ["1.0"] * 3 + ["True"] * 3 + ["None"], 12),
    ],
)
def test_three_float_ids_of_a_kind_are_shown(values: Any, shown: list[str], missing: int) -> None:
    with pytest.raises(da.ValidationError) as caught:
        da.validate_items("customer", ["name"], da.col("customer_id").matches(values))
    *listed, others = caught.value.problems
    assert [problem.value for problem in listed] == shown
    assert f"{missing} " in others.message
    assert f"{len(values)} " in others.message


def test_the_advice_on_float_ids_keeps_leading_zeros_and_works() -> None:
    with pytest.raises(da.ValidationError) as caught:
        da.validate_codes(allocated_time=da.on("2024-01-15"), allocated_audience=UNREAD)
    text = "\n".join([str(caught.value), *map(str, caught.value.problems)])
    assert "dtype" in text
    assert "astype" not in text
    da.validate_items("customer", ["name"], da.col("customer_id").matches(pd.Series(["000001", None]).dropna()))


# A `pool_id` with a fraction makes a collected column of floats; without one it is of integers.
# Source: API specification 2.2: `pool_id` is a number.


@pytest.mark.parametrize(
    ("pools", "kind"),
    [([1, 2.5, None, 3], "float64"), ([1, None, 2.0], "int64"), ([None], "int64"), ([2.5], "float64")],
)
@pytest.mark.parametrize("days", [1, 2])
def test_the_type_of_a_pool_id_with_a_fraction(client_of: Any, pools: list[float | None], kind: str, days: int) -> None:
    client = client_of(*[[{"pool_id": pool} for pool in part] for part in (pools, [1])[:days]], concurrency=1)
    until = da.days("2024-01-15", f"2024-01-{15 + days}")
    table = client.scan_codes(["pool_id"], allocated_time=until).collect()
    assert table.schema["pool_id"] == kind
    assert table.to_arrow()["pool_id"].to_pylist() == [*pools, 1][: len(pools) + days - 1]


# The hint for a value of another type names a type that keeps strings as they are.
# Source: a trial of notebooks.


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, "a"], "string"),
        ([True, 1], "string"),
        ([1, 2.5], "float64"),
        ([{}, "a"], "string"),
        ([*[None] * 20, 7], "int64"),
    ],
)
def test_the_hint_names_a_type_that_takes_all_values(client_of: Any, values: list[Any], kind: Any) -> None:
    client = client_of([{"x": value} for value in values])
    with pytest.raises(da.DataAccessError) as caught:
        list(client.scan_items("store", ["x"], da.col("y").equals("1")).batches(max_rows=1))
    hinted: Any = caught.value if caught.value.hint else caught.value.__cause__
    assert kinds.fixed_by(hinted) == ["x", kind]
    same = client.scan_items("store", ["x"], da.col("y").equals("1"), schema={"x": kind})
    assert sum(batch.num_rows for batch in same.batches(max_rows=1)) == len(values)


# A time of a zone whose offset had seconds is the same instant in frames, dicts, CSV and JSON lines.
# Source: the IANA time zone database, Asia/Ho_Chi_Minh before 1906; ISO 8601 has no seconds in an offset.

ROWS = [{"t": "1900-01-01 00:00:00"}, {"t": "1870-06-01 12:00:00.5"}]


@pytest.mark.parametrize("zone", ["Asia/Ho_Chi_Minh", "America/New_York", "Europe/Amsterdam", "Africa/Monrovia", "UTC"])
def test_one_instant_in_all_forms(client_of: Any, zone: str, tmp_path: Path) -> None:
    scan = client_of(ROWS, timezone=zone).scan_items("store", ["t"], da.col("y").equals("1"), schema={"t": "timestamp"})
    scan.to_csv(tmp_path / "t.csv")
    scan.to_jsonl(tmp_path / "t.jsonl")
    with (tmp_path / "t.csv").open() as file:
        texts = {"csv": [row["t"] for row in csv.DictReader(file)]}
    texts["jsonl"] = [json.loads(line)["t"] for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    texts["dicts"] = [row["t"] for row in scan.collect().to_dicts()]
    instants = [value.as_py().astimezone(dt.UTC) for value in scan.to_arrow()["t"]]
    assert [value.to_pydatetime().astimezone(dt.UTC) for value in scan.to_pandas()["t"]] == instants
    for form, values in texts.items():
        assert [dt.datetime.fromisoformat(value).astimezone(dt.UTC) for value in values] == instants, form


# A file with the suffix .tsv has tabs between its fields, whichever call or command writes it; .csv has commas.
# Source: a trial of notebooks.


@pytest.mark.parametrize(("name", "separator"), [("x.tsv", "\t"), ("X.TSV", "\t"), ("x.csv", ",")])
def test_the_suffix_decides_about_tabs(name: str, separator: str, sandbox: da.Sandbox, tmp_path: Path) -> None:
    one, other = tmp_path / name, tmp_path / f"command-{name}"
    sandbox.client().scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15")).to_csv(one)
    assert {line.count(separator) for line in one.read_text().splitlines()} == {1}
    with sandbox.environment():
        options = ["--attrs", "id,pool_id", "--on", "2024-01-15", "--format", "csv", "-o", str(other)]
        assert run("codes", *options).returncode == 0
    assert other.read_bytes() == one.read_bytes()


# Statuses are numbers; `scan_codes(decode_status=True)` gives names in frames and files, and numbers in dicts.
# Source: a trial of notebooks.

DAY = da.on("2024-01-15")
COLUMNS = ["id", "code_status", "audience_type"]
DICTS: dict[str, Callable[[da.Scan], Any]] = {
    "scan.to_dicts": lambda scan: scan.to_dicts(),
    "table.to_dicts": lambda scan: scan.collect().to_dicts(),
    "table.to_pylist": lambda scan: scan.collect().to_pylist(),
    "rows of a table": lambda scan: [scan.collect()[row] for row in range(scan.count())],
    "iter_rows": lambda scan: list(scan.iter_rows()),
    "batches": lambda scan: [row for batch in scan.batches() for row in batch.to_dicts()],
}


@pytest.mark.parametrize("decode", [False, True])
def test_dicts_have_numbers_and_columns_what_the_scan_asks_for(
    sandbox: da.Sandbox, tmp_path: Path, decode: bool
) -> None:
    scan = sandbox.client().scan_codes(COLUMNS, allocated_time=DAY, decode_status=decode)
    expected = sandbox.client().search_codes(COLUMNS, allocated_time=DAY)
    for form, dicts in DICTS.items():
        assert dicts(scan) == expected, form
    numbers = [row["code_status"] for row in expected]
    values = [da.CodeStatus(number).name.lower() for number in numbers] if decode else numbers
    for form, column in FORMS.items():
        assert column(scan, tmp_path / form, "code_status") == values, form
    assert ("used" in str(scan.collect())) == decode


@pytest.mark.parametrize("make", [da.Client, da.AsyncClient])
def test_a_client_has_no_setting_for_names_of_statuses(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError):
        make("https://cdp.example.com", token="t", decode_status=True)
    monkeypatch.setenv("DATAACCESS_DECODE_STATUS", "true")
    with pytest.warns(da.DataAccessWarning, match="DATAACCESS_DECODE_STATUS"):
        make("https://cdp.example.com", token="t")


# A DataFrame without its packages: the error names the packages that are missing, and the index has no other of ours.
# Source: a trial as a new user.

PROGRAM = """
import sys
sys.modules[{missing!r}] = None
import dataaccess as da
scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
try:
    scan.{use}()
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("use", "missing", "command"),
    [
        ("to_pandas", "pandas", "pip install pandas pyarrow"),
        ("to_pandas", "pyarrow", "pip install pyarrow"),
        ("to_polars", "polars", "pip install polars"),
        ("to_arrow", "pyarrow", "pip install pyarrow"),
    ],
)
def test_a_missing_package_is_named_with_its_command(use: str, missing: str, command: str) -> None:
    words = [sys.executable, "-W", "ignore", "-c", PROGRAM.format(use=use, missing=missing)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert shown.startswith(f"{missing} ")
    assert shown.endswith(f": {command}")
