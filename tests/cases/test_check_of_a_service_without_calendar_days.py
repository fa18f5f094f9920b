"""Where `equals` is the 24 hours from an instant, `check` says that there may be no calendar days, and names no zone.

Source: API specification 2.4 and 4.2: `equals` with DAY, whose meaning is not shown.
"""

from __future__ import annotations

import pytest

import dataaccess as da

SWITCHES = {"day_equals": "window"}
CODE = {"audience_type": -1003, "allocated_audience": "c", "code_status": 3}


@pytest.mark.parametrize("times", [None, ["2024-01-15 23:20:00"]])
def test_no_zone_is_named(times: list[str] | None) -> None:
    with da.Sandbox(switches=SWITCHES) if times else da.Sandbox.demo(until="2024-02-29", switches=SWITCHES) as sandbox:
        sandbox.load("promotion_code", [{**CODE, "id": "a", "allocated_time": time} for time in times or []])
        answer = sandbox.client().check("2024-01-15").answers["timezone"]
    assert answer.is_right is None
    assert "calendar" in str(answer.detail)
    assert "timezone=" not in str(answer.detail)


def test_the_window_begins_at_the_instant() -> None:
    times = ["2024-01-15 11:59:59", "2024-01-15 12:00:00", "2024-01-16 11:59:59", "2024-01-16 12:00:00"]
    with da.Sandbox(switches=SWITCHES) as sandbox:
        sandbox.load("promotion_code", [{**CODE, "id": time, "allocated_time": time} for time in times])
        rows = sandbox.client().search_codes(["id"], allocated_time=da.op("equals", "2024-01-15T12:00:00"))
    assert [row["id"] for row in rows] == times[1:3]
