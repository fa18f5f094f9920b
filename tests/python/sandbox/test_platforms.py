"""Platforms: by name, and from the file that a probe of a service wrote."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from support.arguments import about

import dataaccess as da
from dataaccess._probe.findings import ProbeReport
from dataaccess._probe.probe import probe
from dataaccess._sandbox.platforms import FACTS, PLATFORMS

DAY = date(2024, 1, 15)
EXPORT = 5637054
# Each differs from the default.
OTHERS: dict[str, Any] = {
    "day_zone": "Asia/Ho_Chi_Minh",
    "source_timezone": "Asia/Kolkata",
    "day_comparison": "instants",
    "operators": "unmatched",
    "time_unit": "unmatched",
    "seconds": "unmatched",
    "value_type": "required",
    "attrs_format": "string",
    "unknown_attribute": "ignored",
    "empty_shape": "absent",
    "last_used_type": "object",
    "channel_id_type": "string",
    "finished_types": "string",
    "end_time_type": "number",
    "finished_status": 7,
    "failed_status": 9,
    "unknown_export": "no_entries",
    "malformed_request": "code_only",
    "row_order": "reverse",
    "maximum_rows": 60,
}


def probed(sandbox: da.Sandbox) -> ProbeReport:
    client = sandbox.client(timezone="Asia/Ho_Chi_Minh", source_timezone="Asia/Kolkata")
    return probe(client, DAY, export_id=EXPORT)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_platform_has_its_switches(name: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", platform=name) as sandbox:
        zone = PLATFORMS[name].get("day_zone", "UTC")
        # The zone of times is settled by codes at both ends of a day: the demo data has some in UTC alone.
        start = datetime(2024, 1, 15, tzinfo=ZoneInfo(zone))
        ends = (start, start + timedelta(days=1, seconds=-1))
        codes = [{"id": f"end-{index}", "allocated_time": each, "code_status": 3} for index, each in enumerate(ends)]
        sandbox.load("promotion_code", codes)
        found = probe(sandbox.client(timezone=zone), DAY, export_id=EXPORT).switches
    expected = {"day_zone": "UTC", "source_timezone": "UTC", "day_comparison": "exclusive", **PLATFORMS[name]}
    assert {each: found[each] for each in expected} == expected


def test_rows_have_the_times_of_the_platform() -> None:
    time = datetime(2024, 1, 14, 20, 30, tzinfo=UTC)
    with da.Sandbox.demo(until="2024-02-29", platform="local-times") as sandbox:
        client = sandbox.client(timezone="Asia/Ho_Chi_Minh", source_timezone="Asia/Ho_Chi_Minh")
        codes = client.search_codes(["allocated_time"], allocated_time=da.on("2024-01-15"))
        assert {row["allocated_time"][:10] for row in codes} == {"2024-01-15"}
        sandbox.declare("visit", 7, {"visit_id": "string", "time": "timestamp"})
        sandbox.load("visit", [{"visit_id": "1", "time": time}])
        assert client.search_items("visit", ["time"], item_type_id=7) == [{"time": "2024-01-15 03:30:00"}]


def test_switches_win_over_the_platform(tmp_path: Path) -> None:
    file = tmp_path / "platform.toml"
    file.write_text('[switches]\nempty_shape = "absent"\nlatency = 60\n', encoding="utf-8")
    with da.Sandbox(platform=file, switches={"empty_shape": "null", "latency": 0}) as sandbox:
        body = da.validate_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert sandbox.client().post("/access/api/item/search", {**body})["data"] == {"status": True, "data": None}


@pytest.mark.parametrize("form", ["json", "toml"])
@pytest.mark.parametrize("switches", [PLATFORMS["other-zone-inclusive"], OTHERS], ids=["named", "others"])
def test_what_a_probe_found_is_found_again_at_a_sandbox_with_its_file(
    switches: dict[str, Any], form: str, tmp_path: Path
) -> None:
    file = tmp_path / f"platform.{form}"
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as service:
        first = probed(service)
    file.write_text(json.dumps(first.to_dict()) if form == "json" else first.to_toml(), encoding="utf-8")
    # A warning is an error in tests: nothing was left out.
    with da.Sandbox.demo(until="2024-02-29", platform=str(file)) as sandbox:
        again = probed(sandbox)
    assert switches.items() <= first.switches.items()
    assert {**again.switches, "latency": 0} == {**first.switches, "latency": 0}
    assert again.settings == first.settings
    assert [(each.name, each.value) for each in again.findings if not each.is_switch] == [
        (each.name, each.value) for each in first.findings if not each.is_switch
    ]


def test_what_no_switch_can_imitate_is_named(tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        found = probed(service).to_dict()
    found["switches"] |= {"empty_shape": "null", "compression": "on"}
    for each in found["findings"]:
        if each["name"] in ("extend_value", "failed_code"):
            each["value"] = "another"
    file = tmp_path / "platform.json"
    file.write_text(json.dumps(found), encoding="utf-8")
    names = {"compression = on", "failed_code = another", "extend_value = another"}
    with pytest.warns(da.SandboxWarning, match=re.escape(str(file))) as caught:
        sandbox = da.Sandbox(platform=file)
    with sandbox:
        (warning,) = caught
        assert set(re.findall(r"\w+ = \w+", str(warning.message))) == names
        assert sandbox.client().search_codes(allocated_time=da.on("2024-01-15")) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"switches": []}', "[client]\na = 1", "\x80"])
def test_a_file_without_switches_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "platform.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(da.ConfigError, check=about("platform")) as caught:
        da.Sandbox(platform=file)
    assert [name for name in (str(file), *PLATFORMS) if name not in str(caught.value)] == []


@pytest.mark.parametrize("platform", ["local", Path(), 5, ""])
def test_another_platform_is_refused(platform: Any) -> None:
    for start in (da.Sandbox, da.Sandbox.demo):
        with pytest.raises(da.ConfigError, check=about("platform")):
            start(platform=platform)


def test_a_value_that_no_switch_takes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "platform.toml"
    file.write_text('[switches]\nrow_order = "scattered"\n', encoding="utf-8")
    with pytest.raises(da.SandboxError, match=r"\brow_order: `scattered`"):
        da.Sandbox(platform=file)


def test_the_facts_of_a_sandbox_are_those_that_a_probe_finds() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        report = probed(sandbox)
    assert {each.name: each.value for each in report.findings if not each.is_switch and each.value is not None} == FACTS
