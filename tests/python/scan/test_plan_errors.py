"""Plans that cannot be: each problem is reported with its path, before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest
from support.scan_plans import items

import dataaccess as da

DAYS = da.days("2024-01-01", "2024-01-04")
VALUE = "filters.OR[0].AND[0].value"


def problems_of(call: Any, *arguments: Any, **options: Any) -> list[tuple[str, str]]:
    """The place of each problem of a call."""
    with pytest.raises(da.ValidationError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    if len(caught.value.problems) > 1:
        message = "\n".join(caught.value.__notes__)
    assert all(problem.message in message for problem in caught.value.problems)
    return [(problem.argument, problem.path) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("days", "named"),
    [
        (da.days("2024-01-02", "2024-01-02"), '"2024-01-02"'),
        (da.days("2024-01-02", "2024-01-01"), '"2024-01-02".*"2024-01-01"'),
        (da.days("soon", "2024-01-01"), '"soon"'),
        (da.days("2024-01-01", None), "None"),  # type: ignore[arg-type] # on purpose
        (da.days(["2024-01-01"], "2024-01-02"), "list"),  # type: ignore[arg-type] # on purpose
        (da.days("1700-01-01", "2024-01-01"), "100000"),
        (da.after(DAYS), "range"),  # type: ignore[arg-type] # on purpose
        (da.op("equals", DAYS), "range"),  # type: ignore[arg-type] # on purpose
        ([da.on("2024-01-01")], "list"),
    ],
)
def test_a_range_that_is_invalid_is_reported_with_its_path(client: Any, days: Any, named: str) -> None:
    assert problems_of(client.scan_codes, ["id"], allocated_time=days) == [("allocated_time", VALUE)]
    with pytest.raises(da.ValidationError, match=named):
        client.scan_codes(["id"], allocated_time=days)


def test_a_range_belongs_to_times(client: Any) -> None:
    places = problems_of(client.scan_codes, allocated_time=DAYS, allocated_audience=DAYS, code_status=DAYS)
    assert places == [("allocated_audience", VALUE), ("code_status", VALUE.replace("AND[0]", "AND[1]"))]
    x = da.col("x")
    for where in (x.matches(DAYS), x.equals(DAYS), x.before(DAYS)):  # type: ignore[arg-type] # on purpose
        assert problems_of(items, client, where) == [("where", VALUE)]


def test_a_range_in_one_of_several_groups_is_reported_with_its_path(client: Any) -> None:
    where = da.col("x").equals("a") | (da.col("y").equals("b") & da.col("opened").on(DAYS))
    assert problems_of(items, client, where) == [("where", "filters.OR[1].AND[1].value")]
    with pytest.raises(da.ValidationError, match=r"\bopened\b.* 2 .*\bOR\b"):
        items(client, where)


def test_a_range_of_days_in_another_unit_is_refused(client: Any) -> None:
    any_days: Any = DAYS
    # Each day of a week would be that week, and each of its rows would come seven times.
    assert problems_of(client.scan_codes, allocated_time=da.op("equals", any_days, unit="WEEK"))
    assert problems_of(items, client, da.col("opened").op("equals", any_days, unit="WEEK"))


def test_all_problems_are_reported_together(client: Any) -> None:
    places = problems_of(
        client.scan_codes,
        ["id", "nmae"],
        allocated_time=da.days("2024-01-02", "2024-01-01"),
        code_status=9,
        limit=0,
        schema={"id": "strng"},
    )
    arguments = ["attrs[1]", "code_status", "allocated_time", "limit", 'schema["id"]']
    assert [argument for argument, _ in places] == arguments


def test_one_body_is_refused_for_days_and_the_line_to_write_is_shown(client: Any) -> None:
    line = r'client\.scan_codes\(allocated_time=days\("2024-01-01", "2024-01-04"\)\)'
    with pytest.raises(da.ValidationError, match=line) as caught:
        client.validate_codes(["id"], allocated_time=DAYS)
    (problem,) = caught.value.problems
    assert (problem.argument, problem.path) == ("allocated_time", VALUE)


def test_a_search_of_items_shows_the_line_of_items(client: Any) -> None:
    with pytest.raises(da.ValidationError, match=r"client\.scan_items\("):
        client.search_items("store", ["x"], da.col("opened").on(DAYS), item_type_id=7)
