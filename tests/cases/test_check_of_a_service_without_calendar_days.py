"""Where `equals` is the 24 hours from an instant, `check` says that there may be no calendar days, and names no zone.

Source: API specification 2.4 and 4.2: `equals` with DAY, whose meaning is not shown.
"""

from __future__ import annotations

import dataaccess as da

CODE = {"audience_type": -1003, "allocated_audience": "c", "code_status": 3}


def test_codes_that_do_not_stay_together() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_equals": "window"}) as sandbox:
        check = sandbox.client().check("2024-01-15")
    assert check.answers["timezone"].is_right is None
    assert "calendar" in str(check.answers["timezone"].detail)
    assert "timezone=" not in str(check.answers["timezone"].detail)


def test_an_end_at_which_no_zone_begins_a_day() -> None:
    with da.Sandbox(switches={"day_equals": "window"}) as sandbox:
        sandbox.load("promotion_code", [{**CODE, "id": "a", "allocated_time": "2024-01-15 23:20:00"}])
        check = sandbox.client().check("2024-01-15")
    assert check.answers["timezone"].is_right is None
    assert "calendar" in str(check.answers["timezone"].detail)


def test_the_window_begins_at_the_instant() -> None:
    times = ["2024-01-15 11:59:59", "2024-01-15 12:00:00", "2024-01-16 11:59:59", "2024-01-16 12:00:00"]
    with da.Sandbox(switches={"day_equals": "window"}) as sandbox:
        sandbox.load(
            "promotion_code",
            [{**CODE, "id": str(number), "allocated_time": time} for number, time in enumerate(times)],
        )
        rows = sandbox.client().search_codes(["id"], allocated_time=da.op("equals", "2024-01-15T12:00:00"))
    assert [row["id"] for row in rows] == ["1", "2"]
