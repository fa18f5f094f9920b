"""What may be given as an argument, and what it becomes: nothing is converted in silence, nothing hangs."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.arguments import about
from support.contract import arguments, calls, named
from support.hostile import TEXTS, is_one_harmless_line, texts_of
from support.raw_server import EXPORT, RESPONSE, always, http, serving

import dataaccess as da

MIDNIGHT = 1704067200000


def body_of(value: Any) -> Any:
    return da.validate_items("voucher", ["a"], da.col("a").matches(value), item_type_id=5)


@pytest.mark.parametrize(
    "time",
    [
        dt.date(2024, 1, 1),
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2024, 1, 1, 7, tzinfo=dt.timezone(dt.timedelta(hours=7))),
        pd.Timestamp("2024-01-01"),
        pd.Timestamp("2024-01-01 07:00", tz="Asia/Bangkok"),
        np.datetime64("2024-01-01"),
        np.datetime64("2024-01-01T00:00:00.000000000"),
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        MIDNIGHT,
        np.int64(MIDNIGHT),
    ],
    ids=repr,
)
def test_times_of_every_kind_are_milliseconds(time: Any) -> None:
    body = da.validate_codes(["id"], allocated_time=da.before(time))
    assert body["filters"]["OR"][0]["AND"][0]["value"] == MIDNIGHT


@pytest.mark.slow
def test_reading_ends_whatever_is_given() -> None:
    itself: list[Any] = []
    itself.append(itself)
    twice: list[Any] = []
    twice.extend([twice, twice])
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    for value in (itself, twice, deep):
        with pytest.raises(da.ValidationError, check=about("where")):
            body_of(value)
    with pytest.raises(ValueError, match="1,000,000"):
        da.col("a").matches(itertools.count())
    expression = da.col("a").equals(1)
    for _ in range(300):
        expression = (expression & da.col("b").equals(2)) | da.col("c").equals(3)
    with pytest.raises(da.ValidationError):
        da.validate_items("voucher", ["a"], expression, item_type_id=5)


def test_an_error_of_the_callers_own_iterable_is_the_callers() -> None:
    class Failing:
        def __iter__(self) -> Any:
            yield 1
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        body_of(Failing())


@pytest.mark.parametrize("statuses", [[7], [7, 8], [7, 8, 7], list(range(10, 16))])
def test_problems_found_in_python_are_told_as_those_of_the_core(client: Any, statuses: list[int]) -> None:
    with pytest.raises(da.ValidationError) as caught:
        client.validate_codes(allocated_time=da.on("2024-01-15"), code_status=statuses, limit=0)
    assert da.ValidationError(problems=caught.value.problems).args == caught.value.args


@pytest.mark.parametrize(
    "condition", [da.on, da.days, da.yesterday, da.month, da.op, da.col("allocated_time").on("2024-01-15")]
)
def test_a_function_in_place_of_a_condition_is_refused(client: Any, condition: Any) -> None:
    for call in (client.search_codes, client.scan_codes, client.validate_codes, da.validate_codes):
        with pytest.raises(da.ValidationError) as caught:
            call(allocated_time=condition)
        assert [problem.argument for problem in caught.value.problems] == ["allocated_time"]


# A hostile string in every argument: it is refused before anything is sent, or it arrives unchanged.


NOTHING = http({**RESPONSE, "data": {"status": True, "data": []}})


def where(client: Any, expression: Any, **options: Any) -> Any:
    return client.search_items("customer", ["name"], expression, **options)


def codes(client: Any, **arguments: Any) -> Any:
    return client.search_codes(**{"attrs": ["id"], "allocated_time": da.on("2024-01-15"), **arguments})


RAW = {"column": "a", "data_type": "string", "operator": "matches", "value": ["b"]}
# A call that no string of the list makes valid.
REFUSED: dict[str, Callable[[Any, str], Any]] = {
    "codes-attrs": lambda client, text: codes(client, attrs=[text]),
    "audience_type": lambda client, text: codes(client, audience_type=text, allocated_audience="a"),
    "code_status": lambda client, text: codes(client, code_status=[text]),
    "raw-key": lambda client, text: where(client, {"OR": [{"AND": [{**RAW, text: 1}]}]}),
    "raw-group": lambda client, text: where(client, {"OR": [{"AND": [], text: []}]}),
    "raw-filters": lambda client, text: where(client, {text: []}),
    "where": where,
    "item_type_id": lambda client, text: where(client, da.col("a").equals("b"), item_type_id=text),
    "limit": lambda client, text: codes(client, limit=text),
    "export_id": lambda client, text: client.download_segment(text),
}


def attempt(kind: type[Exception], call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """The error of this kind that a call is refused with: a harmless line for each problem, which has a place."""
    try:
        call(*arguments, **keywords)
    except kind as error:
        found: Any = error
    else:
        return None
    lines = [str(found)]
    if kind is da.ValidationError:
        lines += [text for problem in found.problems for text in (problem.argument, problem.path, problem.message)]
        assert found.problems
        assert all(problem.argument for problem in found.problems)
    assert all(map(is_one_harmless_line, lines)), lines
    return found


# Cases of the contract whose texts may be any text, or a few.
ARRIVES = [
    *("a full search of codes", "a unit is sent as given", "an operator in place of matches"),
    *("an object of one's own", "several attributes"),
    *("attributes as a text where the platform takes one", "an operator with a unit", "filters with other types"),
]


def with_text(value: Any, text: str) -> Iterator[Any]:
    """The arguments with a text in each place that has one."""
    if isinstance(value, str):
        yield text
    elif isinstance(value, list | dict):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            for changed in with_text(each, text):
                copy = value.copy()
                copy[key] = changed
                yield copy


def texts_in(value: Any) -> Iterator[str]:
    """All strings of a body; a list of attributes may be one of them."""
    if isinstance(value, str):
        yield from (value, *value.split(","))
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


@pytest.mark.parametrize("case", [case for case in calls("client") if case["name"] in ARRIVES], ids=named)
def test_a_hostile_text_arrives_as_it_was_given_or_is_refused(connect: Any, case: dict[str, Any]) -> None:
    sent = 0
    with serving(always(NOTHING)) as server:
        client = connect(server.base_url, retry_for=0, **case.get("client", {}))
        for name, text in texts_of(ARRIVES.index(case["name"])).items():
            for given in with_text(case["arguments"], text):
                error = attempt(da.ValidationError, getattr(client, case["call"]), **arguments({"arguments": given}))
                sent += error is None
                assert len(server.requests) == sent, (name, given)
                if error is None and text != "2024-01-01 00:00:00":
                    assert text in texts_in(server.requests[-1].json), (name, given)
    # Most strings are valid somewhere: refusing them all would pass the above.
    assert sent > 20


@pytest.mark.parametrize("position", REFUSED)
def test_a_hostile_text_where_no_text_is_good_is_refused_before_it_is_sent(connect: Any, position: str) -> None:
    with serving(always(NOTHING)) as server:
        client = connect(server.base_url, retry_for=0)
        for name, text in texts_of(list(REFUSED).index(position)).items():
            assert attempt(da.ValidationError, REFUSED[position], client, text), name
        assert server.requests == []


def test_a_hostile_path_is_refused_or_stays_below_the_base_url(connect: Any) -> None:
    with serving(always(http(EXPORT))) as server:
        client = connect(f"{server.base_url}/base", retry_for=0)
        for name, text in TEXTS.items():
            for path in (text, f"/{text}", f"/a/{text}"):
                before = len(server.requests)
                is_sent = attempt(da.ConfigError, client.post, path, {}) is None
                assert len(server.requests) == before + is_sent, name
                if is_sent:
                    arrived = server.requests[-1].path
                    assert arrived.startswith("/base/"), (name, arrived)
                    assert not {".", ".."} & set(arrived.split("/")), (name, arrived)


@pytest.mark.parametrize("setting", ["token", "headers"])
def test_a_hostile_setting_is_refused_or_sent_as_it_is(connect: Any, setting: str) -> None:
    with serving(always(NOTHING)) as server:
        for name, text in TEXTS.items():
            before = len(server.requests)
            options = {"token": {"token": text}, "headers": {"headers": {"X-Own": text}}}[setting]
            error = attempt(
                da.ConfigError, lambda given: codes(connect(server.base_url, retry_for=0, **given)), options
            )
            if error is None:
                headers = server.requests[-1].headers
                sent = headers["authorization"].removeprefix("Bearer ") if setting == "token" else headers["x-own"]
                # HTTP does not count the blanks around a value.
                assert sent == text.strip(" \t"), name
            else:
                assert len(server.requests) == before, name
                assert setting in str(error), (name, error)
        assert 0 < len(server.requests) < len(TEXTS)
