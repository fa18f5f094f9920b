"""A probe finds out how a service was switched, whichever way that is, and changes nothing on it."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.open_points import SWITCHES, TABLE

import dataaccess as da
from dataaccess._client.settings import SETTINGS
from dataaccess._probe.findings import PLATFORM, Finding, ProbeReport
from dataaccess._probe.probe import MOST_REQUESTS, probe

DAY = date(2024, 1, 15)

DEFAULTS: dict[str, Any] = {
    "day_zone": "UTC",
    "source_timezone": "UTC",
    "day_comparison": "exclusive",
    "day_equals": "day",
    "seconds": "refused",
    "operators": "refused",
    "time_unit": "refused",
    "value_type": "optional",
    "code_condition_type": "optional",
    "attrs_format": "both",
    "unknown_attribute": "refused",
    "empty_shape": "array",
    "last_used_type": "string",
    "channel_id_type": "number",
    "finished_status": 2,
    "failed_status": 3,
    "finished_types": "number",
    "exported_rows_type": "number",
    "end_time_type": "string",
    "unknown_export": "not_found",
    "malformed_request": "status",
    "row_order": "id",
}
OTHERS: dict[str, Any] = {
    "day_zone": "Asia/Ho_Chi_Minh",
    "source_timezone": "Asia/Ho_Chi_Minh",
    "day_comparison": "inclusive",
    "day_equals": "day",
    "seconds": "unmatched",
    "operators": "unmatched",
    "time_unit": "unmatched",
    "value_type": "required",
    "code_condition_type": "refused",
    "attrs_format": "string",
    "unknown_attribute": "ignored",
    "empty_shape": "null",
    "last_used_type": "object",
    "channel_id_type": "string",
    "finished_status": 7,
    "failed_status": 9,
    "finished_types": "string",
    "exported_rows_type": "string",
    "end_time_type": "number",
    "unknown_export": "no_entries",
    "malformed_request": "code_only",
    "row_order": "reverse",
}
ZONES = ["UTC", "Asia/Ho_Chi_Minh", "America/Lima", "Pacific/Auckland", "Pacific/Pago_Pago"]
# Switches that a probe leaves alone, and says why.
NOT_SETTLED = {"generic_codes", "generic_scope", "download_scope", "maximum_rows"}
NOT_SETTLED |= {"bearer_case", "query_string", "download_order"}


def finding(report: ProbeReport, name: str) -> Finding:
    """The only finding of this name."""
    (found,) = [each for each in [*report.findings, *report.of_settings] if each.name == name]
    return found


def served_day(zone: str, times: list[str]) -> da.Sandbox:
    """A sandbox that cuts its days in this zone, with a code allocated at each time (UTC)."""
    sandbox = da.Sandbox(switches={"day_zone": zone})
    rows = [{"id": f"code-{number:05}", "allocated_time": time} for number, time in enumerate(times)]
    sandbox.load("promotion_code", rows)
    return sandbox


@pytest.mark.parametrize("switches", [DEFAULTS, OTHERS], ids=["defaults", "others"])
def test_a_probe_finds_the_switches_of_a_service(switches: dict[str, Any]) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        client = sandbox.client(timezone=switches["day_zone"])

        report = probe(client, DAY, export_id=5637054)

        assert {name: value for name, value in report.switches.items() if name != "latency"} == switches
        assert report.settings == {
            "timezone": switches["day_zone"],
            "source_timezone": switches["source_timezone"],
            "day_comparison": switches["day_comparison"],
            **({"code_value_type": "normal"} if switches["value_type"] == "required" else {}),
            "attrs_format": "string" if switches["attrs_format"] == "string" else "array",
        }
        assert report.requests == len(sandbox.requests) <= MOST_REQUESTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("empty_shape", "object"),
        ("empty_shape", "absent"),
        ("attrs_format", "array"),
        ("maximum_rows", 60),
        ("day_comparison", "instants"),
    ],
)
def test_a_probe_finds_the_other_values_of_a_switch(name: str, value: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={name: value}) as sandbox:
        assert probe(sandbox.client(), DAY).switches[name] == value


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
        found: dict[str, Any] = dict(probe(sandbox.client(timezone=timezone), day, export_id=5637054).switches)

    expected = {**DEFAULTS, **switches}
    assert found.pop("latency") >= 0
    if switches.get("day_equals") == "window":
        # One code does not show that there are no days.
        for name in ("day_zone", "source_timezone", "day_comparison"):
            found.pop(name, None)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    for name in ("day_zone", "source_timezone"):
        zones = [expected[name], found.pop(name, expected[name])]
        offsets = [noon.astimezone(ZoneInfo(zone)).utcoffset() or timedelta() for zone in zones]
        # Zones whose offsets differ by a day cut the same days, but write other times.
        difference = abs(offsets[0] - offsets[1])
        assert difference in ((timedelta(0), timedelta(days=1)) if name == "day_zone" else (timedelta(0),)), name
    assert found == {name: expected[name] for name in found}


def test_the_only_code_that_a_service_shows_does_not_settle_the_zone_of_its_time() -> None:
    with da.Sandbox.demo(
        until="2024-02-29", switches={"maximum_rows": 1, "source_timezone": "Asia/Ho_Chi_Minh"}
    ) as sandbox:
        found = finding(probe(sandbox.client(), DAY), "source_timezone")
    assert found.value is None
    assert "busier" in found.detail


@pytest.mark.parametrize("form", ["both", "array", "string"])
def test_what_no_switch_chooses_is_found_whatever_form_attributes_have(form: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"attrs_format": form}) as sandbox:
        report = probe(sandbox.client(), DAY, export_id=5637054)

    names = {each.name for each in report.findings if not each.is_switch and each.value is not None}
    refused = {"unknown_object", "value_types", "condition_type", "data_types"}
    refused |= {"equals_values", "repeated_names", "declared_types", "extend_value"}
    others = {
        "key_order": "code_first",
        "failed_code": "500",
        "refusal_data": "a string",
        "generic_operators": "accepted",
        "string_comparison": "case counts",
    }
    assert names == refused | {*others} | ({"attrs_separator"} if form != "array" else set())
    assert {finding(report, name).value for name in refused} == {"refused"}
    assert {name: finding(report, name).value for name in others} == others
    if form != "array":
        assert finding(report, "attrs_separator").value == "comma"


def test_every_open_point_is_settled_or_says_why_not() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
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
        "gzip",
        "generic_codes",
        "pool_id_fraction",
        "bearer_case",
        "query_string",
        "download_order",
        "other_statuses",
        "positions",
        "null_values",
        "code_transitions",
        "search_refusal",
        "refusal_members",
        "list_sizes",
        "rates",
        "token_lifetime",
    }
    assert " 73 " in finding(report, "maximum_rows").detail
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
        "America/Lima": ("Etc/GMT+5", " 2024-01-15 05:00 UTC: UTC-05:00 (America/New_York, America/Lima, "),
        "Asia/Kolkata": ("Asia/Kolkata", " 2024-01-15 18:30 UTC: UTC+05:30 (Asia/Kolkata, "),
        "Pacific/Auckland": (None, " 2024-01-15 11:00 UTC: UTC-11:00 or UTC+13:00 (Pacific/Pago_Pago, "),
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
    assert "UTC-11:00 or UTC+13:00 (" in line


def test_one_code_is_enough_to_find_the_zone_of_days() -> None:
    with served_day("Asia/Ho_Chi_Minh", ["2024-01-15 09:00:00"]) as sandbox:
        report = probe(sandbox.client(), DAY)

    assert report.settings["timezone"] == "Etc/GMT-7"
    (line,) = [line for line in report.to_toml().splitlines() if line.startswith("timezone = ")]
    assert line.endswith(" 2024-01-15 17:00 UTC: UTC+07:00 (Asia/Ho_Chi_Minh, Asia/Jakarta, Antarctica/Davis, …)")
    assert "source_timezone" not in report.settings
    assert "busier" in finding(report, "source_timezone").detail


PLATFORMS: list[dict[str, Any]] = [
    {},
    {"day_zone": "Asia/Ho_Chi_Minh", "source_timezone": "Asia/Ho_Chi_Minh", "day_comparison": "instants"},
    {"day_zone": "Asia/Kolkata", "day_comparison": "inclusive", "attrs_format": "string"},
]


@pytest.mark.parametrize("switches", PLATFORMS)
def test_a_client_with_the_settings_of_a_probe_reads_right_rows_without_a_warning(switches: dict[str, Any]) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        settings = probe(sandbox.client(), DAY, export_id=5637054).settings
        client = sandbox.client(**settings)

        check = client.check(DAY)
        assert (check.is_day_right, check.is_comparison_right) == (True, True), str(check)
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
    assert not ids["on"] & ids["after"] | ids["on"] & ids["before"]


def test_the_settings_of_a_probe_are_settings_of_clients() -> None:
    assert set(PLATFORM) <= SETTINGS.keys()
    page = (Path(__file__).parents[3] / "docs" / "your-platform.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(PLATFORM)


def test_objects_of_the_client_stay_in_its_settings() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        report = probe(sandbox.client(item_types={"store": 7}), DAY)
    assert tomllib.loads(report.to_toml())["client"]["item_types"] == {"store": 7}


def test_few_codes_have_no_order() -> None:
    with served_day("UTC", ["2024-01-15 00:00:00", "2024-01-15 12:00:00", "2024-01-15 23:59:59"]) as sandbox:
        report = probe(sandbox.client(), DAY)
    assert report.switches["day_zone"] == "UTC"
    assert "busier" in finding(report, "row_order").detail
    assert "row_order" not in report.switches


def test_a_day_without_codes_leaves_its_questions_open() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        report = probe(sandbox.client(), date(2031, 1, 1))
    for name in ("day_zone", "day_comparison", "row_order", "last_used_type", "channel_id_type"):
        assert "another" in finding(report, name).detail
    assert report.switches["empty_shape"] == "array"
    assert report.switches["operators"] == "refused"


def test_an_operator_that_is_taken_is_unmatched_only_if_it_finds_nothing_where_codes_are() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"operators": "unmatched"}) as sandbox:
        found = finding(probe(sandbox.client(), date(2031, 1, 1)), "operators")
    assert found.value is None
    assert "another" in found.detail


def test_a_token_without_the_scope_of_downloads_leaves_those_open() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        report = probe(sandbox.client(scopes=["item"]), DAY, export_id=5637054)
        assert report.switches["operators"] == "refused"
        for name in ("unknown_export", "finished_status", "failed_status", "finished_types", "failed_code"):
            assert finding(report, name).value is None
            assert "download" in finding(report, name).detail
        assert " not " in finding(report, "download_scope").detail

        with pytest.raises(da.PermissionDeniedError):
            probe(sandbox.client(scopes=["download"]), DAY)


def test_a_token_that_may_not_search_customers_leaves_those_open() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"generic_scope": "crm.read"}) as sandbox:
        report = probe(sandbox.client(scopes=["item", "download"]), DAY, export_id=5637054)
    assert report.switches["operators"] == "refused"
    assert "generic_scope" not in report.switches
    assert "`item`" in finding(report, "generic_scope").detail
    assert " not " not in finding(report, "download_scope").detail
    for name in ("attrs_format", "attrs_separator", "unknown_object", "value_types", "declared_types"):
        assert "customers" in finding(report, name).detail


@pytest.mark.parametrize("form", ["json", "toml"])
def test_the_file_of_a_probe_makes_a_sandbox_like_the_service(form: str, tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=OTHERS) as sandbox:
        first = probe(sandbox.client(timezone=OTHERS["day_zone"]), DAY, export_id=5637054)
    file = tmp_path / f"platform.{form}"
    file.write_text(json.dumps(first.to_dict()) if form == "json" else first.to_toml(), encoding="utf-8")
    with da.Sandbox.demo(until="2024-02-29", platform=str(file), switches={"latency": 0}) as sandbox:
        again = probe(sandbox.client(timezone=OTHERS["day_zone"]), DAY, export_id=5637054)
    assert {**again.switches, "latency": 0} == {**first.switches, "latency": 0}
    assert again.settings == first.settings


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
