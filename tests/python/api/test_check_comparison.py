"""`check(day)` finds out whether `day_comparison` fits the service, in two searches."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from support.raw_server import http, serving

import dataaccess as da

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
    answer = check.answers["day_comparison"]
    assert (answer.value, answer.is_right, includes(answer.detail)) == (right, is_right, compared == "inclusive")
    assert re.findall(r'day_comparison.*"(\w+)"', answer.detail) == ([] if is_right else [right])
    assert check.answers["timezone"].is_right
    assert is_right or not check.is_ok


def test_two_searches_find_it(connect: Any, sandbox: da.Sandbox) -> None:
    before = len(sandbox.requests)
    connect(sandbox).check(DAY)
    searches = [request.body for request in sandbox.requests[before:] if "promotion_code" in str(request.body)]
    operators = [body["filters"]["OR"][0]["AND"][-1]["operator"] for body in searches]
    assert [operator for operator in operators if "date" in operator] == ["after_date", "before_date"]


@pytest.mark.parametrize("day", [None, "1999-01-01"])
def test_without_a_day_nothing_is_known(connect: Any, sandbox: da.Sandbox, day: str | None) -> None:
    check = connect(sandbox).check(day)
    answer = check.answers["day_comparison"]
    assert (answer.state, answer.value, answer.is_right, check.is_ok) == ("not found", None, None, True)


def test_a_code_without_an_audience_leaves_it_open(connect: Any) -> None:
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", [{"id": "a", "allocated_time": f"{DAY} 12:00:00"}])
        check = connect(sandbox).check(DAY)
    assert (check.answers["timezone"].is_right, check.answers["day_comparison"].is_right) == (True, None)
    assert "audience" in check.answers["day_comparison"].detail


ROW = {"id": "a", "allocated_time": f"{DAY} 12:00:00", "audience_type": -1003, "allocated_audience": "c-1"}
REFUSAL = http({"code": 400, "message": "no such operator", "data": None}, "400 Bad Request")


def respond_by_operator(connection: Any, request: Any, others: dict[str, bytes]) -> None:
    """Has a code on `DAY`; responds to each other operator as told."""
    condition: dict[str, Any] = {"value": 0}
    if "filters" in request.json:
        condition = request.json["filters"]["OR"][0]["AND"][-1]
    if condition.get("operator") == "matches":
        connection.sendall(http())
        return
    day = datetime.fromtimestamp(condition["value"] / 1_000, UTC).date()
    found = rows(["a"] if day.isoformat() == DAY else [])
    connection.sendall(others.get(condition.get("operator", "equals"), found))


def rows(ids: list[str]) -> bytes:
    found = [{**ROW, "id": name} for name in ids]
    return http({"code": 200, "message": "", "data": {"status": True, "data": found}})


def test_a_refused_operator_is_a_finding(connect: Any) -> None:
    others = dict.fromkeys(("after_date", "before_date"), REFUSAL)
    with serving(lambda one, number: respond_by_operator(one, server.requests[number], others)) as server:
        check = connect(server.base_url).check(DAY)
    assert (check.answers["timezone"].is_right, check.answers["day_comparison"].is_right) == (True, None)
    assert isinstance(check.errors["day_comparison"], da.ApiError)


def test_a_refusal_amid_the_searches_of_a_day_ends_them(connect: Any) -> None:
    def respond(connection: Any, number: int) -> None:
        is_search_of_end = len(server.requests) > 3
        connection.sendall(
            REFUSAL if is_search_of_end else rows(["a"] if "filters" in server.requests[number].json else [])
        )

    with serving(respond) as server:
        check = connect(server.base_url).check(DAY)
    assert [check.answers[name].value for name in ("timezone", "day_comparison")] == [None, None]
    assert isinstance(check.errors["timezone"], da.ApiError)


@pytest.fixture
def searched(connect: Any) -> Callable[..., tuple[str, bool | None]]:
    """What is found if the two searches find these codes, and `a` is a code of the day."""

    def check(after: list[str], before: list[str], setting: str = "exclusive") -> tuple[str, bool | None]:
        others = {"after_date": rows(after), "before_date": rows(before)}
        with serving(lambda one, number: respond_by_operator(one, server.requests[number], others)) as server:
            found = connect(server.base_url, day_comparison=setting).check(DAY)
        return found.answers["day_comparison"].detail, found.answers["day_comparison"].is_right

    return check


def test_operators_that_differ_fit_no_setting(searched: Any) -> None:
    for after, before, first, other in (
        (["a", "b"], [], "after_date", "before_date"),
        ([], ["a"], "before_date", "after_date"),
    ):
        said, is_right = searched(after, before)
        assert (re.findall(r"\w+_date", said), is_right) == ([first, other], False)


def test_a_response_that_may_be_cut_off_shows_nothing(searched: Any) -> None:
    many = [f"b-{number}" for number in range(100)]
    said, is_right = searched(many, [])
    assert (re.findall(r"after_date|before_date|\d+", said), is_right) == (["after_date", "100"], None)
    for codes, setting in (([*many, "a"], "inclusive"), (many[1:], "exclusive")):
        said, is_right = searched(codes, codes, setting)
        assert (includes(said), is_right) == (setting == "inclusive", True)
