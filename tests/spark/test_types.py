"""Types of Spark that the service does not have: values are read exactly, or the error names the column and the row."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import PythonException

import dataaccess as da

Read = Callable[..., Any]

EXACT = {
    "name": "i-1",
    "visits": 2_147_483_647,
    "born": "1990-05-17 00:00:00",
    "price": 2.5,
    "account": "12345678901234567890.12",
}
INEXACT = {
    "name": "i-3",
    "visits": 2_147_483_648,
    "born": "1990-05-17 00:00:01",
    "price": 0.125,
    "account": "none",
}


@pytest.fixture(scope="session")
def items(service: da.Sandbox) -> None:
    types = {"name": "string", "visits": "int64", "born": "timestamp", "price": "float64", "account": "string"}
    service.declare("invoice", 9, types)  # type: ignore[arg-type] # a dict of these
    service.load("invoice", [EXACT, {"name": "i-2"}, INEXACT])


def of(*names: str) -> dict[str, object]:
    """The options that read these items."""
    return {"item_type_name": "invoice", "item_type_id": 9, "where": da.col("name").matches(list(names))}


@pytest.mark.usefixtures("items")
def test_int_date_and_decimal_have_the_exact_values(read: Read) -> None:
    schema = "name string, visits int, born date, price decimal(10,2), account decimal(38,2)"
    rows = {row.name: row for row in read(schema, **of("i-1", "i-2")).collect()}

    assert tuple(rows["i-1"]) == (
        "i-1",
        2_147_483_647,
        dt.date(1990, 5, 17),
        Decimal("2.50"),
        Decimal("12345678901234567890.12"),
    )
    assert tuple(rows["i-2"]) == ("i-2", None, None, None, None)
    small = read("name string, visits smallint, price decimal(3,1)", **of("i-2")).collect()
    assert [tuple(row) for row in small] == [("i-2", None, None)]


@pytest.mark.usefixtures("items")
@pytest.mark.parametrize(
    ("column", "advised"),
    [
        ("visits int", "bigint"),
        ("visits tinyint", "bigint"),
        ("born date", "timestamp_ntz"),
        ("price decimal(10,2)", "json_attrs"),
        ("account decimal(38,2)", "json_attrs"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_without_the_value(read: Read, column: str, advised: str) -> None:
    name, kind = column.split(" ")
    with pytest.raises(PythonException) as caught:
        read(f"name string, {column}", **of("i-3")).collect()
    line = str(caught.value).strip().splitlines()[-1]
    assert line.startswith(f'dataaccess.ResponseError: schema["{name}"]: ')
    assert re.search(rf"\b0\b.* {re.escape(kind)}: .*\b{advised}$", line)
    assert str(INEXACT[name]) not in str(caught.value)
