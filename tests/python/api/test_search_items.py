"""Items of any business object (section 4.1)."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from support.arguments import about

import dataaccess as da

ONE, TWO = "demo-customer-0001", "demo-customer-0002"


def test_customers_are_found_by_id(client: Any) -> None:
    rows = client.search_items("customer", ["customer_id", "name"], da.col("customer_id").matches([TWO, ONE]))
    assert [row["customer_id"] for row in rows] == [ONE, TWO]
    assert all(isinstance(row["name"], str) for row in rows)


def test_either_side_of_or_is_enough_and_both_of_and_are_needed(client: Any) -> None:
    one, two = da.col("customer_id").equals(ONE), da.col("customer_id").equals(TWO)
    ids = ["customer_id"]
    assert len(client.search_items("customer", ids, one | two)) == 2
    assert client.search_items("customer", ids, one & two) == []
    name = client.search_items("customer", ["name"], one)[0]["name"]
    assert len(client.search_items("customer", ids, one & da.col("name").equals(name))) == 1


def test_without_a_where_every_record_is_asked_for(client: Any) -> None:
    everything: dict[str, Any] = {"OR": [{"AND": []}]}
    ids = [f"demo-customer-{number:04}" for number in range(1, 2_026)]
    for arguments in [(), (None,), (everything,)]:
        assert client.validate_items("customer", ["customer_id"], *arguments)["filters"] == everything
        scan = client.scan_items("customer", ["customer_id"], *arguments)
        (task,) = scan.tasks()
        found = [client.search_items("customer", ["customer_id"], *arguments), scan.to_dicts(), task.to_dicts()]
        assert [[row["customer_id"] for row in rows] for rows in found] == [ids] * 3
    with pytest.raises(da.ValidationError, match=r' col\("allocated_time"\)\.after\(', check=about("where")):
        client.search_items("promotion_code", ["id"])


def test_the_filter_of_the_specification_is_accepted(client: Any) -> None:
    condition = {
        "column": "customer_id",
        "data_type": "string",
        "operator": "matches",
        "value": [ONE],
    }
    rows = client.search_items("customer", ["customer_id"], {"OR": [{"AND": [condition]}]})
    assert rows == [{"customer_id": ONE}]


def test_attributes_may_travel_as_text(client: Any) -> None:
    where = da.col("customer_id").equals(ONE)
    as_text = client.with_options(attrs_format="string").search_items("customer", ["customer_id", "name"], where)
    assert as_text == client.search_items("customer", ["customer_id", "name"], where)
    assert list(as_text[0]) == ["customer_id", "name"]


def test_promotion_codes_take_attributes_as_an_array_only(client: Any) -> None:
    """Section 4.2, rule 2."""
    where = da.col("allocated_time").on("2024-01-15")
    for form in ("array", "string"):
        body = client.with_options(attrs_format=form).validate_items("promotion_code", ["id"], where)
        assert body["attrs"] == ["id"]


# Unix seconds, microseconds and nanoseconds of 2024-01-31, and what no unit explains.
NOT_MILLISECONDS = [1_706_659_200, 1_706_659_200_000_000, 1_706_659_200_000_000_000, 0, -1, 99_999_999_999, 10**14 + 1]


def raw(column: str, operator: str, value: Any, **fields: Any) -> dict[str, Any]:
    """A `where` of one condition, written as the specification does."""
    condition = {"column": column, "operator": operator, "value": value, **fields}
    return {"OR": [{"AND": [condition]}]}


@pytest.mark.parametrize("number", NOT_MILLISECONDS)
@pytest.mark.parametrize("operator", ["before_date", "equals", "after_date"])
def test_unix_seconds_in_a_raw_condition_are_refused_as_in_an_expression(
    client: Any, operator: str, number: int
) -> None:
    with pytest.raises(da.ValidationError) as typed:
        client.validate_codes(allocated_time=da.after(number))
    expected = typed.value.problems[0].message
    for name, column in [("promotion_code", "allocated_time"), ("customer", "joined")]:
        with pytest.raises(da.ValidationError) as caught:
            client.validate_items(name, ["id"], raw(column, operator, number, data_type="datetime"))
        (problem,) = caught.value.problems
        assert (problem.path, problem.message) == ("filters.OR[0].AND[0].value", expected)
        assert problem.argument == 'where["OR"][0]["AND"][0]["value"]'


@pytest.mark.parametrize("number", NOT_MILLISECONDS)
@pytest.mark.parametrize("operator", ["before_date", "after_date"])
def test_an_operator_of_dates_takes_no_unix_seconds_whatever_the_data_type(
    client: Any, operator: str, number: int
) -> None:
    def refused(where: Any) -> tuple[str, str]:
        with pytest.raises(da.ValidationError) as caught:
            client.validate_items("customer", ["name"], where)
        (problem,) = caught.value.problems
        return problem.path, problem.message

    with pytest.raises(da.ValidationError) as typed:
        client.validate_codes(allocated_time=da.after(number))
    expected = typed.value.problems[0].message
    for data_type in ("number", "timestamp"):
        assert refused(raw("joined", operator, [number], data_type=data_type)) == (
            "filters.OR[0].AND[0].value[0]",
            expected,
        )
    path, message = refused(da.col("joined").op(operator, number))
    assert (path, message.endswith(expected)) == ("filters.OR[0].AND[0].value", True)


def test_milliseconds_in_a_raw_condition_are_sent_as_they_are(client: Any) -> None:
    def sent(where: Any) -> dict[str, Any]:
        body = client.validate_items("customer", ["name"], where)
        return dict(body["filters"]["OR"][0]["AND"][0])

    assert sent(raw("joined", "after_date", 1_706_659_200_000, data_type="datetime"))["value"] == 1_706_659_200_000
    assert sent(raw("joined", "after_date", [1_706_659_200_000], data_type="number"))["value"] == [1_706_659_200_000]
    assert sent(raw("visits", "matches", [1_706_659_200], data_type="number"))["value"] == [1_706_659_200]


def test_promotion_codes_keep_their_rules_in_the_generic_call(client: Any) -> None:
    where = da.col("code_status").matches(["used"]) | da.col("pool_id").equals(1)
    with pytest.raises(da.ValidationError):
        client.search_items("promotion_code", ["id"], where)
    good = da.col("allocated_time").on("2024-01-15") & da.col("code_status").matches([4])
    rows = client.search_items("promotion_code", ["id"], good)
    assert rows == client.search_codes(["id"], allocated_time=da.on("2024-01-15"), code_status="used")


def test_an_unknown_object_is_refused_by_the_service_in_its_own_words(client: Any) -> None:
    with pytest.raises(da.RequestRejectedError) as caught:
        client.search_items("voucher", ["id"], da.col("id").equals("x"), item_type_id=-7)
    assert caught.value.status == 404
    assert caught.value.api_message


def test_a_known_name_has_one_id(client: Any) -> None:
    with pytest.raises(da.ValidationError, match="-1003"):
        client.search_items("customer", ["name"], da.col("name").equals("x"), item_type_id=-5)


def test_ids_of_a_series_are_found(client: Any) -> None:
    ids = pd.Series([f"demo-customer-{number:04}" for number in range(1, 101)])
    assert len(client.search_items("customer", ["customer_id"], da.col("customer_id").matches(ids))) == 100
