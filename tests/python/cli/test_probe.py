"""`probe` asks before it sends, and prints TOML with what was seen."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da


def test_the_findings_are_toml_and_their_reasons_are_comments(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    ended = run("probe", "--day", "2024-01-15", "--export", "5637054", "--yes", terminal=True)
    assert ended.code == 0
    found = tomllib.loads(ended.output)
    assert found["switches"]["day_zone"] == found["client"]["timezone"] == "UTC"
    assert re.search('^day_comparison = "exclusive"  # after_date .*before_date ', ended.output, re.MULTILINE)
    assert "# - maximum_rows: " in ended.output
    assert re.findall(r"\d+", ended.reported) == ["35", "37", "59"]
    assert len(demo.requests) == 35


def test_json_has_all_findings(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    found = json.loads(run("probe", "--day", "2024-01-15", "--yes", "--json").output)
    assert found["requests"] == len(demo.requests)
    assert {each["name"] for each in found["findings"]} >= {"day_zone", "declared_types", "finished_status"}


def test_nothing_is_sent_without_a_confirmation(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    ended = run("probe", "--day", "2024-01-15")
    assert ended.code == 2
    assert "--yes" in ended.reported
    assert demo.requests == []


def test_a_wrong_day_is_named(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    ended = run("probe", "--day", "15.1.2024", "--yes")
    assert ended.code == 2
    assert "'15.1.2024'" in ended.reported
    assert demo.requests == []


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of profiles, which does not exist yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    return tmp_path / "dataaccess" / "config.toml"


PROBE = ("probe", "--day", "2024-01-15", "--export", "5637054", "--yes")


def test_a_profile_gets_the_settings_of_the_platform(run: Any, demo: da.Sandbox, config: Path) -> None:
    ended = run(*PROBE, "--write-profile", "cdp", "--json")
    assert ended.code == 0, ended
    found = json.loads(ended.output)["client"]
    profile = tomllib.loads(config.read_text())["profiles"]["cdp"]
    assert profile == {"base_url": demo.base_url, **found}
    assert {"timezone", "source_timezone", "day_comparison", "attrs_format"} <= found.keys()
    assert "base_url, timezone, " in ended.reported
    assert str(config) in ended.reported


def test_what_a_profile_has_stays_and_what_it_lacks_is_added(run: Any, demo: da.Sandbox, config: Path) -> None:
    config.parent.mkdir()
    before = (
        "# mine\n[profiles.a]\ntimeout = 5\n\n"
        f'[profiles.cdp] # ours\nbase_url = "{demo.base_url}"\ntimezone = "UTC"\n\n'
        "[profiles.b]\nretry_for = 1\n"
    )
    config.write_text(before)
    for _ in range(2):
        ended = run(*PROBE, "--write-profile", "cdp")
        assert ended.code == 0, ended
    assert "cdp" in ended.reported
    assert "base_url" not in ended.reported
    text = config.read_text()
    profiles = tomllib.loads(text)["profiles"]
    assert (profiles["a"], profiles["b"]) == ({"timeout": 5}, {"retry_for": 1})
    assert (profiles["cdp"]["timezone"], profiles["cdp"]["attrs_format"]) == ("UTC", "array")
    assert [line for line in before.splitlines() if line not in text.splitlines()] == []


@pytest.mark.parametrize(
    ("before", "data"),
    [
        ('[profiles.cdp]\ntimezone = "Asia/Tokyo"\n', r"\bcdp\b.* timezone\b.*config\.toml"),
        ('[profiles]\ncdp = { timezone = "UTC" }\n', r"config\.toml"),
        ('[profiles]\ncdp.timezone = "UTC"\n', r"config\.toml"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_a_profile_that_says_otherwise_is_left_alone(run: Any, config: Path, before: str, data: str) -> None:
    config.parent.mkdir()
    config.write_text(before)
    ended = run(*PROBE, "--write-profile", "cdp")
    assert ended.code == 2
    assert re.search(data, ended.reported)
    assert 'timezone = "UTC"  # ' in ended.output
    assert config.read_text() == before
