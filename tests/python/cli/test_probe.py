"""`probe` asks before it sends, and prints TOML with what was seen."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import dataaccess as da


def test_the_findings_are_toml_and_their_reasons_are_comments(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    ended = run("probe", "--day", "2024-01-15", "--export", "5637054", "--yes", terminal=True)
    assert ended.code == 0
    found = tomllib.loads(ended.output)
    assert found["switches"]["day_zone"] == found["client"]["timezone"] == "UTC"
    assert 'day_comparison = "exclusive"  # after_date does not find a code of its day' in ended.output
    assert "# - maximum_rows: not asked: " in ended.output
    assert ended.reported == "20 requests settled 32 of 49 open points\n"
    assert len(demo.requests) == 20


def test_json_has_all_findings(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    found = json.loads(run("probe", "--day", "2024-01-15", "--yes", "--json").output)
    assert found["requests"] == len(demo.requests)
    assert {each["name"] for each in found["findings"]} >= {"day_zone", "declared_types", "finished_status"}


def test_nothing_is_sent_without_a_confirmation(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    ended = run("probe", "--day", "2024-01-15")
    assert ended.code == 2
    assert "add --yes" in ended.reported
    assert demo.requests == []


def test_a_wrong_day_is_named(run: Any, demo: da.Sandbox) -> None:
    demo.clear_requests()
    ended = run("probe", "--day", "15.1.2024", "--yes")
    assert ended.code == 2
    assert "'15.1.2024' is not a day such as 2024-01-15" in ended.reported
    assert demo.requests == []
