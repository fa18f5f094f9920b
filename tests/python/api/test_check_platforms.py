"""`check(day, export_id)` finds the settings of a service however it behaves, and no finding is wrong."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.open_points import TABLE
from support.raw_server import always, http, serving

import dataaccess as da

DAY = date(2024, 1, 15)
EXPORT = 5637054
MOST_REQUESTS = 20
ZONES = ["UTC", "Asia/Ho_Chi_Minh", "America/Lima", "Pacific/Auckland", "Pacific/Pago_Pago"]
PLATFORMS: list[dict[str, Any]] = [
    {},
    {"day_zone": "Asia/Ho_Chi_Minh", "source_timezone": "Asia/Ho_Chi_Minh", "day_comparison": "instants"},
    *({"day_zone": zone} for zone in ("America/New_York", "Asia/Kathmandu")),
    {"day_zone": "Asia/Kolkata", "day_comparison": "inclusive", "attrs_format": "string", "value_type": "required"},
]


@pytest.mark.parametrize("switches", PLATFORMS)
def test_a_client_with_the_settings_that_were_found_reads_right_rows_without_a_warning(
    switches: dict[str, Any],
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        check = sandbox.client().check(DAY, EXPORT)
        assert check.requests == len(sandbox.requests) <= MOST_REQUESTS
        client = sandbox.client(**check.settings)
        again = client.check(DAY, EXPORT)
        assert again.is_ok, str(again)
        assert again.settings == check.settings
        # Warnings are errors in tests.
        ids = {
            name: {row["id"] for row in client.search_codes(["id", "allocated_time"], allocated_time=time)}
            for name, time in (
                ("on", da.on(DAY)),
                ("since", da.since(DAY)),
                ("after", da.after(DAY)),
                ("until", da.until(DAY)),
                ("before", da.before(DAY)),
            )
        }
        assert client.search_items(
            "customer", ["customer_id", "name"], da.col("customer_id").equals("demo-customer-0001")
        )
    assert ids["on"]
    assert ids["since"] == ids["on"] | ids["after"]
    assert ids["until"] == ids["on"] | ids["before"]
    assert not ids["on"] & (ids["after"] | ids["before"])


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_no_finding_is_wrong_however_a_service_is_switched(data: st.DataObject) -> None:
    values = {name: st.sampled_from(re.findall(r'"(\w+)"', takes)) for name, takes in TABLE.items() if '", "' in takes}
    values["day_zone"] = values["source_timezone"] = st.sampled_from(ZONES)
    values["maximum_rows"] = st.sampled_from([1, 9, 25, 60])
    switches: dict[str, Any] = data.draw(st.fixed_dictionaries({}, optional=values))
    day = data.draw(st.sampled_from([DAY, date(2024, 2, 20), date(2031, 1, 1)]))
    timezone = data.draw(st.sampled_from(ZONES))
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        check = sandbox.client(timezone=timezone).check(day, EXPORT)
        assert len(sandbox.requests) <= MOST_REQUESTS
    found = {name: answer.value for name, answer in check.answers.items() if answer.state == "found"}
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    # The only code of a day shows no zone where `equals` is 24 hours.
    for name, switch in (("timezone", "day_zone"), ("source_timezone", "source_timezone")):
        zones = [switches.get(switch, "UTC"), found.get(name)]
        if zones[1] is not None and switches.get("day_equals") != "window":
            offsets = [noon.astimezone(ZoneInfo(zone)).utcoffset() or timedelta() for zone in zones]
            # Zones whose offsets differ by a day cut the same days, but write other times.
            apart = (timedelta(0), timedelta(days=1)) if name == "timezone" else (timedelta(0),)
            assert abs(offsets[0] - offsets[1]) in apart, name
    if switches.get("day_equals") != "window":
        compared = switches.get("day_comparison", "exclusive")
        expected = "inclusive" if compared == "inclusive" else "exclusive"
        assert found.get("day_comparison") in (None, expected)
    assert found.get("known_row_cap") in (None, switches.get("maximum_rows"))
    form = switches.get("attrs_format", "both")
    assert found.get("attrs_format") in (None, *(("array", "string") if form == "both" else (form,)))
    assert found.get("code_value_type") in ((None,) if switches.get("value_type") != "required" else (None, "normal"))


DATA: tuple[object, ...] = (
    None,
    [],
    "a string",
    {"status": False, "data": []},
    {"status": True, "data": [1, None]},
    {"status": True, "data": [{"id": ["a"], "allocated_time": {}}]},
    {"entries": {}, "meta": {}},
    {"entries": [7], "meta": {}},
    {"entries": [{}, {"endTime": 5, "responseCode": []}], "meta": {}},
)
BODIES: list[object] = [
    {},
    [],
    "text",
    None,
    {"code": "200", "data": {}},
    {"code": 200, "message": ""},
    *({"code": 200, "message": "", "data": data} for data in DATA),
    {"code": 429, "message": "", "data": None},
    {"code": 500, "message": "", "data": None},
]


@pytest.mark.parametrize("body", BODIES)
def test_a_service_of_one_unexpected_shape_ends_no_check(body: object) -> None:
    with serving(always(http(body))) as server:
        check = da.Client(server.base_url, token="t", timezone="UTC").check(DAY, 7)
        assert len(server.requests) == check.requests <= MOST_REQUESTS
    assert check.is_reachable
    assert not {"timezone", "day_comparison", "known_row_cap"} & {*check.settings}
    assert str(check)
    assert check.to_dict()
