"""A probe finds out how a service was switched, whichever way that is, and changes nothing on it."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.open_points import SWITCHES, TABLE

import dataaccess as da
from dataaccess._probe.findings import Finding, ProbeReport
from dataaccess._probe.probe import MOST_REQUESTS, probe
from dataaccess._probe.zone import possible_offsets, shown_ranges

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
ZONES = ["UTC", "Asia/Ho_Chi_Minh", "America/Lima", "Pacific/Auckland", "Pacific/Pago_Pago"]
# Switches that a probe leaves alone, and says why.
NOT_SETTLED = {"generic_scope", "download_scope", "maximum_rows", "gzip", "source_timezone"}


def finding(report: ProbeReport, name: str) -> Finding:
    """The only finding of this name."""
    (found,) = [each for each in report.findings if each.name == name]
    return found


def served_day(zone: str, times: list[str]) -> da.Sandbox:
    """A sandbox that cuts its days in this zone, with a code allocated at each time (UTC)."""
    sandbox = da.Sandbox(switches={"day_zone": zone})
    rows = [{"id": f"code-{number:05}", "allocated_time": time} for number, time in enumerate(times)]
    sandbox.load("promotion_code", rows)
    return sandbox


@pytest.mark.parametrize("switches", [DEFAULTS, OTHERS], ids=["defaults", "others"])
def test_a_probe_finds_the_switches_of_a_service(switches: dict[str, Any]) -> None:
    with da.Sandbox.demo(switches=switches) as sandbox:
        client = sandbox.client(timezone=switches["day_zone"])

        report = probe(client, DAY, export_id=5637054)

        assert {name: value for name, value in report.switches.items() if name != "latency"} == switches
        expected = {"timezone": switches["day_zone"]}
        if switches["attrs_format"] == "string":
            expected["attrs_format"] = "string"
        assert report.settings == expected
        assert report.requests == len(sandbox.requests) <= MOST_REQUESTS


@pytest.mark.parametrize(
    ("name", "value"),
    [("empty_shape", "object"), ("empty_shape", "absent"), ("row_order", "scattered"), ("attrs_format", "array")],
)
def test_a_probe_finds_the_other_values_of_a_switch(name: str, value: str) -> None:
    with da.Sandbox.demo(switches={name: value}) as sandbox:
        assert probe(sandbox.client(), DAY).switches[name] == value


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_no_finding_is_wrong_however_a_service_is_switched(data: st.DataObject) -> None:
    values = {name: st.sampled_from(re.findall(r'"(\w+)"', takes)) for name, takes in TABLE.items() if '", "' in takes}
    values["day_zone"] = st.sampled_from(ZONES)
    values["maximum_rows"] = st.sampled_from([1, 9, 25, 60])
    switches: dict[str, Any] = data.draw(st.fixed_dictionaries({}, optional=values))
    day = data.draw(st.sampled_from([DAY, date(2024, 2, 20), date(2031, 1, 1)]))
    timezone = data.draw(st.sampled_from(ZONES))
    with da.Sandbox.demo(switches=switches) as sandbox:
        found: dict[str, Any] = dict(probe(sandbox.client(timezone=timezone), day, export_id=5637054).switches)

    expected = {**DEFAULTS, **switches}
    assert found.pop("latency") >= 0
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    zones = [expected["day_zone"], found.pop("day_zone", expected["day_zone"])]
    offsets = [noon.astimezone(ZoneInfo(zone)).utcoffset() or timedelta() for zone in zones]
    # Zones whose offsets differ by a day cut the same days.
    assert offsets[0] % timedelta(days=1) == offsets[1] % timedelta(days=1)
    assert found == {name: expected[name] for name in found}


@pytest.mark.parametrize("form", ["both", "array", "string"])
def test_what_no_switch_chooses_is_found_whatever_form_attributes_have(form: str) -> None:
    with da.Sandbox.demo(switches={"attrs_format": form}) as sandbox:
        report = probe(sandbox.client(), DAY, export_id=5637054)

    names = {each.name for each in report.findings if not each.is_switch and each.value is not None}
    settled = {"unknown_object", "value_type", "condition_type", "equals_values", "repeated_names", "declared_types"}
    assert names == settled | {"failed_code", "refusal_data"} | ({"attrs_separator"} if form != "array" else set())
    assert {finding(report, name).value for name in settled} == {"refused"}
    assert finding(report, "failed_code").value == "500"
    assert finding(report, "refusal_data").value == "a string"
    if form != "array":
        assert finding(report, "attrs_separator").value == "comma"


def test_every_open_point_is_settled_or_says_why_not() -> None:
    with da.Sandbox.demo() as sandbox:
        report = probe(sandbox.client(), DAY, export_id=5637054)

    assert len(report.findings) == len(TABLE)
    assert {each.name for each in report.findings} == set(TABLE)
    assert {each.name for each in report.findings if each.is_switch} == SWITCHES
    assert set(report.switches) == SWITCHES - NOT_SETTLED
    not_asked = {each.name for each in report.findings if each.detail.startswith("not asked: ")}
    assert not_asked == {
        "no_conditions",
        "empty_values",
        "member_defaults",
        "content_type",
        "maximum_rows",
        "gzip",
        "source_timezone",
    }
    text = report.to_toml()
    for name in (each.name for each in report.findings if each.value is None):
        assert f"# - {name}: " in text


@pytest.mark.parametrize("zone", ["America/Lima", "Asia/Kolkata", "Pacific/Auckland"])
def test_the_zone_of_days_is_found_by_a_client_of_another_zone(zone: str) -> None:
    start = datetime(2024, 1, 10, tzinfo=UTC)
    times = [f"{start + timedelta(minutes=15 * number):%Y-%m-%d %H:%M:%S}" for number in range(4 * 24 * 10)]
    with served_day(zone, times) as sandbox:
        found = finding(probe(sandbox.client(), DAY), "day_zone")

    expected = {
        "America/Lima": ("Etc/GMT+5", "UTC-05:00"),
        "Asia/Kolkata": (None, "UTC+05:30"),
        "Pacific/Auckland": (None, "UTC-11:00 or UTC+13:00, which cut the same days"),
    }
    value, offset = expected[zone]
    assert found.value == value
    assert offset in found.detail
    assert value is not None or "--timezone" in found.detail


def test_of_two_zones_that_cut_the_same_days_the_own_is_taken_and_both_are_named() -> None:
    start = datetime(2024, 1, 10, tzinfo=UTC)
    times = [f"{start + timedelta(minutes=15 * number):%Y-%m-%d %H:%M:%S}" for number in range(4 * 24 * 10)]
    with served_day("Pacific/Pago_Pago", times) as sandbox:
        report = probe(sandbox.client(timezone="Pacific/Auckland"), DAY)

    assert report.switches["day_zone"] == report.settings["timezone"] == "Pacific/Auckland"
    (line,) = [line for line in report.to_toml().splitlines() if line.startswith("day_zone = ")]
    assert "UTC-11:00 or UTC+13:00, which cut the same days" in line


@pytest.mark.parametrize(
    ("timezone", "offsets"),
    [
        ("UTC", "UTC-12:00 to UTC-09:15, UTC+00:00 to UTC+14:00"),
        ("Asia/Ho_Chi_Minh", "UTC-12:00 to UTC-09:15, UTC+07:00 to UTC+14:00"),
    ],
)
def test_a_zone_that_is_one_of_several_is_no_finding(timezone: str, offsets: str) -> None:
    with served_day("Asia/Ho_Chi_Minh", ["2024-01-15 09:00:00"]) as sandbox:
        report = probe(sandbox.client(timezone=timezone), DAY)

    assert "day_zone" not in report.switches
    assert report.settings == {}
    text = report.to_toml()
    found = tomllib.loads(text)
    assert "day_zone" not in found["switches"]
    assert found["client"] == {}
    (line,) = [line for line in text.splitlines() if "day_zone" in line]
    assert line.startswith("# - day_zone: ")
    assert "name a busier day" in line
    assert offsets in line


def test_offsets_explain_the_times_of_a_day() -> None:
    asked = datetime(2024, 1, 15, tzinfo=UTC)
    busy = ["2024-01-14 17:00:00", "2024-01-15 16:59:59"]
    assert possible_offsets(busy, asked) == [timedelta(hours=7)]
    assert len(possible_offsets(["2024-01-15 12:00:00"], asked)) > 40
    assert possible_offsets(["2024-01-01 12:00:00", "2024-01-15 12:00:00"], asked) == []


def test_offsets_are_shown_as_ranges() -> None:
    quarter = timedelta(minutes=15)
    assert shown_ranges([timedelta(hours=7)]) == "UTC+07:00"
    assert shown_ranges([-quarter, timedelta(0), quarter, 4 * quarter]) == "UTC-00:15 to UTC+00:15, UTC+01:00"


def test_few_codes_have_no_order() -> None:
    with served_day("UTC", ["2024-01-15 00:00:00", "2024-01-15 12:00:00", "2024-01-15 23:59:59"]) as sandbox:
        report = probe(sandbox.client(), DAY)
    assert report.switches["day_zone"] == "UTC"
    assert "name a busier day" in finding(report, "row_order").detail
    assert "row_order" not in report.switches


def test_a_day_without_codes_leaves_its_questions_open() -> None:
    with da.Sandbox.demo() as sandbox:
        report = probe(sandbox.client(), date(2031, 1, 1))
    for name in ("day_zone", "day_comparison", "row_order", "last_used_type", "channel_id_type"):
        assert "name another day" in finding(report, name).detail
    assert report.switches["empty_shape"] == "array"
    assert report.switches["operators"] == "refused"


def test_an_operator_that_is_taken_is_unmatched_only_if_it_finds_nothing_where_codes_are() -> None:
    with da.Sandbox.demo(switches={"operators": "unmatched"}) as sandbox:
        found = finding(probe(sandbox.client(), date(2031, 1, 1)), "operators")
    assert found.value is None
    assert "name another day" in found.detail


def test_a_token_without_the_scope_of_downloads_leaves_those_open() -> None:
    with da.Sandbox.demo() as sandbox:
        report = probe(sandbox.client(scopes=["item"]), DAY, export_id=5637054)
        assert report.switches["operators"] == "refused"
        for name in ("unknown_export", "finished_status", "failed_status", "finished_types", "failed_code"):
            assert finding(report, name).value is None
            assert "the token may not download" in finding(report, name).detail
        assert "may not download" in finding(report, "download_scope").detail

        with pytest.raises(da.PermissionDeniedError):
            probe(sandbox.client(scopes=["download"]), DAY)


def test_a_token_that_may_not_search_customers_leaves_those_open() -> None:
    with da.Sandbox.demo(switches={"generic_scope": "crm.read"}) as sandbox:
        report = probe(sandbox.client(scopes=["item", "download"]), DAY, export_id=5637054)
    assert report.switches["operators"] == "refused"
    assert "generic_scope" not in report.switches
    assert "another scope than `item`" in finding(report, "generic_scope").detail
    assert "may download" in finding(report, "download_scope").detail
    for name in ("attrs_format", "attrs_separator", "unknown_object", "value_type", "declared_types"):
        assert "the token may not search customers" in finding(report, name).detail


def test_the_file_of_a_probe_makes_a_sandbox_like_the_service() -> None:
    with da.Sandbox.demo(switches=OTHERS) as sandbox:
        text = probe(sandbox.client(timezone=OTHERS["day_zone"]), DAY, export_id=5637054).to_toml()

    found = tomllib.loads(text)
    with da.Sandbox.demo(switches={**found["switches"], "latency": 0}) as sandbox:
        client = sandbox.client(timezone=found["client"]["timezone"])
        again = probe(client, DAY, export_id=5637054)
    assert {**again.switches, "latency": 0} == {**found["switches"], "latency": 0}


@given(st.text(), st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_a_report_with_any_characters_is_toml(value: str, detail: str, number: float) -> None:
    findings = [
        Finding("day_zone", value, detail),
        Finding("latency", number, detail),
        Finding("operators", None, detail),
    ]
    report = ProbeReport(value, detail, 3, findings)
    assert tomllib.loads(report.to_toml()) == {
        "switches": {"day_zone": value, "latency": number},
        "client": {"timezone": value},
    }


def test_a_report_has_no_character_that_only_json_may_escape() -> None:
    report = ProbeReport("http://a", "2024-01-15", 1, [Finding("day_zone", '😀\x7f\x85\n"\\', "a\r\nb\x1b[31m")])
    text = report.to_toml()
    assert tomllib.loads(text)["switches"] == {"day_zone": '😀\x7f\x85\n"\\'}
    assert "😀\\u007F\\u0085" in text
    assert not [one for one in text.replace("\n", "") if ord(one) < 32 or 127 <= ord(one) < 160]
