"""Parts of a capped response whose numbers of rows do not fit."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.raw_server import RawServer, serving
from support.streams import response_of

import dataaccess as da


def records(count: int, status: Any, first: int = 0) -> list[dict[str, Any]]:
    return [{"id": f"{status}-{number}", "code_status": status} for number in range(first, first + count)]


@contextmanager
def with_counts(counts: dict[int | None, int]) -> Iterator[RawServer]:
    """A service that sends so many records of each status, and for None so many of status 3."""

    def give(connection: Any, number: int) -> None:
        (group,) = server.requests[number].json["filters"]["OR"]
        asked = [condition["value"][0] for condition in group["AND"] if condition["column"] == "code_status"]
        status = asked[0] if asked else None
        connection.sendall(response_of(records(counts[status], status or 3)))

    with serving(give) as server:
        yield server


@pytest.mark.parametrize("other", [None, 2, "4", 3.5], ids=repr)
def test_records_of_another_status_are_not_lost(connect: Any, other: Any) -> None:
    own = [*records(999, 3), *records(1, other)]

    def give(connection: Any, _number: int) -> None:
        connection.sendall(response_of(own))

    with serving(give) as server:
        scan = connect(server.base_url).scan_codes(
            ["id", "code_status"],
            allocated_time=da.on("2024-01-15"),
            on_suspected_cap="split",
            schema={"code_status": "json"},
        )
        for use in (scan.to_dicts, lambda: scan.collect().to_pylist()):
            with pytest.warns(da.IncompleteWarning, match="2024-01-15"):
                assert use() == own
        assert len(server.requests) == 2


def test_parts_with_fewer_rows_do_not_replace_a_response(connect: Any) -> None:
    with with_counts({None: 1_000, 1: 0, 3: 400, 4: 500}) as server:
        scan = connect(server.base_url).scan_codes(
            ["id", "code_status"], allocated_time=da.on("2024-01-15"), on_suspected_cap="split"
        )
        with pytest.warns(da.IncompleteWarning, match=r"2024-01-15 .* 900 .*\b1000\b"):
            assert scan.to_dicts() == records(1_000, 3)


def test_parts_that_show_that_nothing_was_capped_warn_of_nothing(connect: Any) -> None:
    with with_counts({None: 1_000, 1: 100, 3: 400, 4: 500}) as server:
        scan = connect(server.base_url).scan_codes(
            ["id", "code_status"], allocated_time=da.on("2024-01-15"), on_suspected_cap="split"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Counter(row["code_status"] for row in scan.to_dicts()) == {1: 100, 3: 400, 4: 500}
