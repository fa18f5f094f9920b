"""Types that the specification does not show can be chosen in the sandbox, and the client returns what comes.

Source: API specification 2.2 (`channel_id`, `last_used_*`), 2.4 and 2.5 (`endTime`, `responseCode`).
"""

from __future__ import annotations

import dataaccess as da

ATTRS = ["channel_id", "last_used_source", "last_used_time"]
USED = {"id": "a", "code_status": 4, "allocated_time": "2024-01-15 10:00:00", "channel_id": 3}
USED |= {"last_used_source": "till", "last_used_time": "2024-01-16 09:00:00"}
UNUSED = {"id": "b", "code_status": 3, "allocated_time": "2024-01-15 11:00:00"}
SWITCHES = {"channel_id_type": "string", "last_used_type": "object"}


def test_attributes_of_codes() -> None:
    with da.Sandbox(switches=SWITCHES) as sandbox:
        sandbox.load("promotion_code", [USED, UNUSED])
        rows = sandbox.client().search_codes(ATTRS, allocated_time=da.on("2024-01-15"))
    used = [{"value": "till"}, {"value": "2024-01-16 09:00:00"}]
    assert [list(row.values()) for row in rows] == [["3", *used], [None, None, None]]


def test_an_export_that_has_ended() -> None:
    with da.Sandbox.demo(
        until="2024-02-29", switches={"finished_types": "string", "end_time_type": "number"}
    ) as sandbox:
        status = sandbox.client().wait_for_segment(5637051, timeout=5)
    (entry, *_) = status["entries"]
    assert entry["responseCode"] == "200"
    assert isinstance(entry["durations"], str)
    assert isinstance(entry["endTime"], int)
