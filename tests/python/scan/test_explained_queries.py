"""Mistakes in queries of polars: nothing is sent, and the error says what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import dataaccess as da

STATUS = pl.col("code_status")


def codes(sandbox: da.Sandbox, **arguments: Any) -> da.Scan:
    return sandbox.client().scan_codes(allocated_time=da.days("2024-01-01", "2024-01-04"), **arguments)


def test_a_query_that_is_not_a_function_is_refused(sandbox: da.Sandbox) -> None:
    scan: Any = codes(sandbox)
    with pytest.raises(
        TypeError, match=r"not a LazyFrame: write scan\.explain_query\(lambda codes: codes\.filter\(…\)\)"
    ):
        scan.explain_query(scan.to_lazyframe())


def test_the_plan_of_polars_says_how_to_see_the_requests(sandbox: da.Sandbox) -> None:
    shown = codes(sandbox).to_lazyframe().explain()
    assert "in 3 requests; scan.explain_query(lambda codes: codes.filter(…)) shows which are sent" in shown


USES: dict[str, Callable[[da.Scan, Any], object]] = {
    "explain": lambda scan, query: scan.explain_query(query),
    "collect": lambda scan, query: query(scan.to_lazyframe()).collect(),
}
WRONG: dict[str, tuple[Any, str]] = {
    "name": (STATUS == "used", "code_status: is int64 here, not 'used': use da.CodeStatus.USED, or decode_status=True"),
    "other": (STATUS == "usd", "code_status: is int64 here, not 'usd': use da.CodeStatus.…, or decode_status=True"),
    "audience": (pl.col("audience_type") == "visitor", "use da.AudienceType.VISITOR, or decode_status=True"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", WRONG)
def test_a_name_is_not_compared_with_integers(sandbox: da.Sandbox, use: str, name: str) -> None:
    condition, expected = WRONG[name]
    scan = codes(sandbox)
    sandbox.clear_requests()
    with pytest.raises((da.ValidationError, pl.exceptions.PolarsError)) as caught:
        USES[use](scan, lambda rows: rows.filter(condition))
    assert expected in str(caught.value)
    assert sandbox.requests == []


def test_names_are_compared_with_decoded_columns(sandbox: da.Sandbox) -> None:
    named = codes(sandbox, decode_status=True).to_lazyframe().filter(STATUS == "used").collect()
    numbered = codes(sandbox).to_lazyframe().filter(STATUS == da.CodeStatus.USED).collect()
    assert len(named) == len(numbered) > 0
