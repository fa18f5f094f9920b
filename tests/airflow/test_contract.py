"""The calls of `tests/json/contract.json` by the search operator, whose conditions are texts; and the responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.contract import (
    NOW,
    arguments,
    calls,
    expected,
    named,
    problems,
    responding,
    responses,
    texts,
    verdict,
)
from support.environment import now
from support.raw_server import always, serving

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessSearchOperator
from dataaccess.airflow.compat import exceptions
from dataaccess.airflow.failures import is_permanent

__all__ = ["now"]


def search(case: dict[str, Any]) -> None:
    """Runs the operator, or gets the status of a segment with the hook."""
    if case["call"] == "download_segment":
        DataAccessHook().get_conn().download_segment(**arguments(case))
        return
    given, written = arguments(case), texts(case)
    conditions = {name: written[name] for name in ("allocated_time", "where") if given.get(name) is not None}
    DataAccessSearchOperator(task_id="search", **{**given, **conditions}).execute({})


@pytest.mark.parametrize("case", calls("airflow"), ids=named)
def test_an_operator_sends_the_body_or_reports_the_problems(
    case: dict[str, Any], connect: Callable[..., str], now: Callable[[str], None]
) -> None:
    now(NOW)
    with serving(always(expected(case))) as service:
        connect(host=service.base_url, password="tok", extra=json.dumps({"concurrency": 1, **case.get("client", {})}))
        if "problems" in case:
            with pytest.raises((exceptions.AirflowFailException, da.ValidationError)) as caught:
                search(case)
            cause = caught.value if isinstance(caught.value, da.ValidationError) else caught.value.__cause__
            assert isinstance(cause, da.ValidationError)
            assert problems(cause) == case["problems"]
        else:
            search(case)
        assert [request.json for request in service.requests] == case.get("bodies", [])


@pytest.mark.parametrize("case", responses("airflow"), ids=named)
def test_an_operator_returns_the_rows_or_fails_for_good_or_for_now(
    case: dict[str, Any], connect: Callable[..., str]
) -> None:
    with serving(responding(case)) as service:
        connect(host=service.base_url, password="tok", extra=json.dumps({"retry_for": 0}))
        operator = DataAccessSearchOperator(task_id="search", attrs=["id"], allocated_time=da.on("2024-01-15"))
        if "rows" in case["verdict"]:
            assert operator.execute({}) == case["verdict"]["rows"]
            return
        with pytest.raises((exceptions.AirflowFailException, da.DataAccessError)) as caught:
            operator.execute({})
    cause = caught.value if isinstance(caught.value, da.DataAccessError) else caught.value.__cause__
    assert isinstance(cause, da.DataAccessError)
    assert verdict(cause) == case["verdict"]
    assert isinstance(caught.value, exceptions.AirflowFailException) == is_permanent(cause)
