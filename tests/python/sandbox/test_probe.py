"""A probe finds out how a service was switched, whichever way that is, and changes nothing on it."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

import dataaccess as da
from dataaccess._probe.probe import MOST_REQUESTS, probe
from dataaccess._probe.zone import possible_offsets

DAY = date(2024, 1, 15)

DEFAULTS: dict[str, Any] = {
    "day_zone": "UTC",
    "day_comparison": "exclusive",
    "operators": "refused",
    "time_unit": "refused",
    "attrs_format": "both",
    "empty_shape": "array",
    "last_used_type": "string",
    "channel_id_type": "number",
    "finished_status": 2,
    "failed_status": 3,
    "finished_types": "plain",
    "unknown_export": "not_found",
    "malformed_request": "status",
    "row_order": "id",
    "key_order": "code_first",
}
OTHERS: dict[str, Any] = {
    "day_zone": "Asia/Ho_Chi_Minh",
    "day_comparison": "inclusive",
    "operators": "unmatched",
    "time_unit": "unmatched",
    "attrs_format": "string",
    "empty_shape": "null",
    "last_used_type": "object",
    "channel_id_type": "string",
    "finished_status": 7,
    "failed_status": 9,
    "finished_types": "string",
    "unknown_export": "no_entries",
    "malformed_request": "code_only",
    "row_order": "reverse",
    "key_order": "code_last",
}


@pytest.mark.parametrize("switches", [DEFAULTS, OTHERS], ids=["defaults", "others"])
def test_a_probe_finds_the_switches_of_a_service(switches: dict[str, Any]) -> None:
    with da.Sandbox.demo(switches=switches) as sandbox:
        client = sandbox.client(timezone=switches["day_zone"])

        report = probe(client, DAY, export_id=5637054)

        found = {name: value for name, value in report.switches.items() if name != "latency"}
        refused = switches["operators"] == "refused"
        assert found == {name: value for name, value in switches.items() if refused or name != "malformed_request"}
        assert report.settings["timezone"] == switches["day_zone"]
        assert report.settings.get("attrs_format") == ("string" if switches["attrs_format"] == "string" else None)
        assert report.requests == len(sandbox.requests) <= MOST_REQUESTS


@pytest.mark.parametrize(
    ("name", "value"),
    [("empty_shape", "object"), ("empty_shape", "absent"), ("row_order", "scattered"), ("attrs_format", "array")],
)
def test_a_probe_finds_the_other_values_of_a_switch(name: str, value: str) -> None:
    with da.Sandbox.demo(switches={name: value}) as sandbox:
        assert probe(sandbox.client(), DAY).switches[name] == value


@pytest.mark.parametrize("zone", ["America/Lima", "Asia/Kolkata", "Pacific/Auckland"])
def test_the_zone_of_days_is_found_by_a_client_of_another_zone(zone: str) -> None:
    with da.Sandbox(switches={"day_zone": zone}) as sandbox:
        start = datetime(2024, 1, 10, tzinfo=UTC)
        times = [f"{start + timedelta(minutes=15 * number):%Y-%m-%d %H:%M:%S}" for number in range(4 * 24 * 10)]
        sandbox.load("promotion_code", [{"id": time, "allocated_time": time} for time in times])

        report = probe(sandbox.client(), DAY)

        (finding,) = [each for each in report.findings if each.name == "day_zone"]
        expected = {"America/Lima": "UTC-05:00", "Asia/Kolkata": "UTC+05:30", "Pacific/Auckland": "UTC+13:00"}[zone]
        assert expected in finding.detail


def test_offsets_explain_the_times_of_a_day() -> None:
    asked = datetime(2024, 1, 15, tzinfo=UTC)
    busy = ["2024-01-14 17:00:00", "2024-01-15 16:59:59"]
    assert possible_offsets(busy, asked) == [timedelta(hours=7)]
    assert len(possible_offsets(["2024-01-15 12:00:00"], asked)) > 40
    assert possible_offsets(["2024-01-01 12:00:00", "2024-01-15 12:00:00"], asked) == []


def test_a_day_without_codes_leaves_its_questions_open() -> None:
    with da.Sandbox.demo() as sandbox:
        report = probe(sandbox.client(), date(2031, 1, 1))
    open_points = {each.name: each.detail for each in report.findings if each.value is None}
    assert "name another day" in open_points["day_zone"]
    assert report.switches["empty_shape"] == "array"


def test_a_token_without_the_scope_of_downloads_leaves_those_open() -> None:
    with da.Sandbox.demo() as sandbox:
        report = probe(sandbox.client(scopes=["item"]), DAY, export_id=5637054)
        assert report.switches["operators"] == "refused"
        assert "unknown_export" not in report.switches

        with pytest.raises(da.PermissionDeniedError):
            probe(sandbox.client(scopes=["download"]), DAY)


def test_the_file_of_a_probe_makes_a_sandbox_like_the_service() -> None:
    with da.Sandbox.demo(switches=OTHERS) as sandbox:
        text = probe(sandbox.client(timezone=OTHERS["day_zone"]), DAY, export_id=5637054).to_toml()

    found = tomllib.loads(text)
    with da.Sandbox.demo(switches={**found["switches"], "latency": 0}) as sandbox:
        client = sandbox.client(timezone=found["client"]["timezone"])
        again = probe(client, DAY, export_id=5637054)
    assert {**again.switches, "latency": 0} == {**found["switches"], "latency": 0}
