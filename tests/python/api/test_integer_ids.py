"""Ids that the API specification has as strings: an integer is sent as a string by both searches, a float by none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.arguments import about

import dataaccess as da

DAY = da.on("2024-01-15")
LONG = 2**70


def of_codes(ids: Any) -> dict[str, Any]:
    body = da.validate_codes(allocated_time=DAY, allocated_audience=ids)
    return dict(body["filters"]["OR"][0]["AND"][0])


def of_customers(ids: Any) -> dict[str, Any]:
    body = da.validate_items("customer", ["customer_id"], da.col("customer_id").matches(ids))
    return dict(body["filters"]["OR"][0]["AND"][0])


SEARCHES = pytest.mark.parametrize("of", [of_codes, of_customers])


@SEARCHES
@pytest.mark.parametrize(
    ("ids", "sent"),
    [
        (17, ["17"]),
        ([17, "18", LONG], ["17", "18", str(LONG)]),
        (np.array([17, 18]), ["17", "18"]),
        (pd.Series([17, 18]), ["17", "18"]),
        (["00017"], ["00017"]),
    ],
)
def test_integers_are_sent_as_strings(of: Any, ids: Any, sent: list[str]) -> None:
    condition = of(ids)
    assert (condition["data_type"], condition["value"]) == ("string", sent)


@SEARCHES
@pytest.mark.parametrize(
    ("ids", "shown"), [(17.0, "17.0"), (pd.Series([17, None]), "17.0"), (True, "True"), ([None], "None")]
)
def test_other_values_are_refused(of: Any, ids: Any, shown: str) -> None:
    with pytest.raises(da.ValidationError, match=f" {shown} ") as caught:
        of(ids)
    first = caught.value.problems[0]
    argument = "allocated_audience" if of is of_codes else "where"
    assert (first.argument.partition("[")[0], first.value) == (argument, shown)


def test_an_empty_string_is_an_id_of_the_generic_search_alone() -> None:
    assert of_customers("")["value"] == [""]
    with pytest.raises(da.ValidationError, check=about("allocated_audience")):
        of_codes("")


def test_one_id_of_a_customer_is_converted_too() -> None:
    body = da.validate_items("customer", ["customer_id"], da.col("customer_id").equals(17))
    assert body["filters"]["OR"][0]["AND"][0]["value"] == ["17"]


def test_other_attributes_and_objects_keep_the_type_of_their_values() -> None:
    for name, where in (("store", da.col("customer_id")), ("customer", da.col("visits"))):
        body = da.validate_items(name, ["a"], where.matches([17]), item_type_id=7 if name == "store" else None)
        assert (
            body["filters"]["OR"][0]["AND"][0] | {"data_type": "number", "value": [17]}
            == (body["filters"]["OR"][0]["AND"][0])
        )


def test_a_type_that_is_named_is_sent_as_given() -> None:
    where = da.col("customer_id").op("matches", [17], data_type="number")
    body = da.validate_items("customer", ["customer_id"], where)
    assert body["filters"]["OR"][0]["AND"][0]["value"] == [17]


def test_integers_find_customers() -> None:
    with da.Sandbox() as own:
        own.load("customer", [{"customer_id": str(number), "name": "x"} for number in range(20)])
        where = da.col("customer_id").matches([3, 17])
        rows = own.client().search_items("customer", ["customer_id"], where)
    assert {row["customer_id"] for row in rows} == {"3", "17"}
