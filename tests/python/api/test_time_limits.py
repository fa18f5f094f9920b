"""Limits in time: what `timeout=` bounds, and which limit an error names when it ended the retries."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}
EIGHT_DAYS: dict[str, Any] = {"allocated_time": da.days("2024-01-01", "2024-01-09")}
DOWN = http(b"", "500 Broken")


def silent(_connection: Any, _number: int) -> None:
    time.sleep(5)


def test_a_check_waits_its_timeout_once(connect: Any) -> None:
    with serving(silent) as server:
        began = time.monotonic()
        check = connect(server.base_url).check("2024-01-15", timeout=0.3)
        assert 0.3 <= time.monotonic() - began < 0.6
        assert len(server.requests) == 1
    assert (check.is_ok, list(check.errors)) == (False, ["item"])
    assert "timeout=0.3 s" in str(check.errors["item"])
    assert "not asked, as the service was not reached in time" in str(check)


@pytest.mark.parametrize("timeout", [0, -1, "5", True])
def test_the_timeout_of_a_check_is_a_positive_number(client: Any, timeout: Any) -> None:
    with pytest.raises(da.ConfigError, match="timeout= must be"):
        client.check(timeout=timeout)


@pytest.mark.parametrize(
    ("day", "message"),
    [
        (da.on("2024-01-15"), r'^day: on\("2024-01-15"\) is a comparison, not a time'),
        (da.days("2024-01-01", "2024-01-03"), r"^day: days\(.*\) is several days: give one of them$"),
        ("soon", '^day: "soon" is not ISO 8601'),
    ],
)
def test_a_day_that_is_none_is_named_as_the_caller_knows_it(connect: Any, day: Any, message: str) -> None:
    with serving(always(http())) as server:
        with pytest.raises(da.ValidationError, match=message) as caught:
            connect(server.base_url).check(day)
        assert [(problem.argument, problem.value) for problem in caught.value.problems] == [("day", day)]
        assert server.requests == []
