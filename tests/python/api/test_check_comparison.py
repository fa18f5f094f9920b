"""`check(day)` finds out whether `day_comparison` fits the service, in two searches."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from support.raw_server import http, serving

import dataaccess as da
from dataaccess._client.comparison_search import ComparisonSearch
from dataaccess._client.service_day import DaySearch, ServiceDay

DAY = "2024-01-15"
BOTH = "after_date and before_date "


def includes(comparison: str) -> bool:
    """Whether a comparison of both operators is that they include the day."""
    assert comparison.startswith(BOTH)
    return "not" not in comparison.split()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Ho_Chi_Minh"])
@pytest.mark.parametrize("compared", ["exclusive", "inclusive", "instants"])
@pytest.mark.parametrize("setting", ["exclusive", "inclusive"])
def test_a_wrong_setting_is_named(connect: Any, compared: str, setting: str, zone: str) -> None:
    right = "inclusive" if compared == "inclusive" else "exclusive"
    with da.Sandbox.demo(until="2024-02-29", switches={"day_comparison": compared, "day_zone": zone}) as sandbox:
        check = connect(sandbox, day_comparison=setting, timezone=zone).check(DAY)
    is_right = setting == right
    assert (check.is_comparison_right, includes(check.comparison)) == (is_right, compared == "inclusive")
    assert re.findall(r'day_comparison.*"(\w+)"', check.comparison) == ([] if is_right else [right])
    assert (check.is_day_right, check.is_ok) == (True, is_right)
    assert check.day_comparison == setting
    assert f"\nranges:    {setting}: {check.comparison}" in str(check)
    kind = "good" if is_right else "bad"
    assert f'<span class="{kind} wide">{setting}: {BOTH}' in check._repr_html_()


def test_the_comparison_is_found_by_a_client_of_another_zone(connect: Any) -> None:
    with da.Sandbox.demo(
        until="2024-02-29", switches={"day_comparison": "inclusive", "day_zone": "Asia/Kolkata"}
    ) as sandbox:
        check = connect(sandbox).check(DAY)
    assert (check.is_day_right, check.is_comparison_right) == (False, False)


def test_two_searches_find_it(connect: Any, sandbox: da.Sandbox) -> None:
    before = len(sandbox.requests)
    connect(sandbox).check(DAY)
    searches = [request.body for request in sandbox.requests[before:] if "filters" in request.body]
    operators = [body["filters"]["OR"][0]["AND"][-1]["operator"] for body in searches]
    assert [operator for operator in operators if operator != "equals"] == ["after_date", "before_date"]


@pytest.mark.parametrize("day", [None, "1999-01-01"])
def test_without_a_day_nothing_is_known(connect: Any, sandbox: da.Sandbox, day: str | None) -> None:
    check = connect(sandbox).check(day)
    assert (check.is_comparison_right, check.comparison, check.is_ok) == (None, None, True)
    assert re.search(rf"\nranges: +exclusive: .*\b{'checked' if day is None else 'known'}\b", str(check))


def test_a_code_without_an_audience_leaves_it_open(connect: Any) -> None:
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", [{"id": "a", "allocated_time": f"{DAY} 12:00:00"}])
        check = connect(sandbox).check(DAY)
    assert (check.is_day_right, check.is_comparison_right) == (True, None)
    assert "audience" in check.comparison


ROW = {"id": "a", "allocated_time": f"{DAY} 12:00:00", "audience_type": -1003, "allocated_audience": "c-1"}
REFUSAL = http({"code": 400, "message": "no such operator", "data": None}, "400 Bad Request")


def test_a_refused_operator_is_a_finding(connect: Any) -> None:
    def respond(connection: Any, number: int) -> None:
        request = server.requests[number].json
        condition = request["filters"]["OR"][0]["AND"][-1] if "filters" in request else {}
        if condition.get("operator", "equals") != "equals":
            connection.sendall(REFUSAL)
            return
        day = datetime.fromtimestamp(condition.get("value", 0) / 1_000, UTC).date()
        rows = [ROW] if day.isoformat() == DAY else []
        connection.sendall(http({"code": 200, "message": "", "data": {"status": True, "data": rows}}))

    with serving(respond) as server:
        check = connect(server.base_url).check(DAY)
    assert (check.is_day_right, check.comparison, check.is_comparison_right) == (True, None, None)
    assert isinstance(check.errors["day_comparison"], da.ApiError)
    assert re.search(r"\nranges: +exclusive: .*\bknown\b(?:.*\n)+day_comparison: ", str(check))


def searched(after: list[str], before: list[str], setting: str = "exclusive") -> tuple[str, bool | None]:
    """What is found if the two searches find these codes, and `a` is a code of the day."""
    day = DaySearch(0, [ROW])
    while day.instant is not None:
        day.add(["a"] if day.instant < datetime(1970, 1, 2, tzinfo=UTC) else [])
    assert day.end is not None
    search = ComparisonSearch(day, ServiceDay(day.end, ()), setting)
    for ids in (after, before):
        if search.operator is not None:
            search.add(ids)
    assert search.operator is None
    return search.found


def test_operators_that_differ_fit_no_setting() -> None:
    for after, before, first, other in (
        (["a", "b"], [], "after_date", "before_date"),
        ([], ["a"], "before_date", "after_date"),
    ):
        said, is_right = searched(after, before)
        assert (re.findall(r"\w+_date", said), is_right) == ([first, other], False)


def test_a_response_that_may_be_cut_off_shows_nothing() -> None:
    many = [f"b-{number}" for number in range(100)]
    said, is_right = searched(many, [])
    assert (re.findall(r"after_date|before_date|\d+", said), is_right) == (["after_date", "100"], None)
    for codes, setting in (([*many, "a"], "inclusive"), (many[1:], "exclusive")):
        said, is_right = searched(codes, codes, setting)
        assert (includes(said), is_right) == (setting == "inclusive", True)
