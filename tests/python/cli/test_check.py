"""`check`: settings with their sources, what the service says, exit codes with a reason, and settings as TOML."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.profiles import Config, config
from support.raw_server import always, http, serving

import dataaccess as da

__all__ = ["config"]

TOKEN = "tok-hunter2"
DAY = ("--day", "2024-01-15")


@pytest.fixture(autouse=True)
def _sends_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_RETRY_FOR", "0")


def report(run: Any, *words: str) -> tuple[int, dict[str, Any]]:
    ended = run("check", "--json", *words)
    assert "hunter2" not in ended.output + ended.reported
    found = json.loads(ended.output)
    assert found["exit_code"] == ended.code
    return ended.code, found


def test_a_working_client_is_0(run: Any, demo: da.Sandbox) -> None:
    before = len(demo.requests)
    code, found = report(run)
    assert (code, found["is_ok"], len(demo.requests) - before) == (0, True, found["requests"])
    settings = found["configuration"]
    assert settings["base_url"] == {"value": demo.base_url, "source": "environment variable DATAACCESS_BASE_URL"}
    assert settings["token"] == {"value": "(hidden)", "source": "environment variable DATAACCESS_TOKEN"}
    assert report(run, "--timeout", "9")[1]["configuration"]["timeout"] == {"value": 9.0, "source": "option"}
    assert set(settings) >= {"retry_for", "proxy", "headers", "profile"}
    assert found["settings"] == {"attrs_format": "array"}


def test_a_day_finds_the_settings(run: Any, demo: da.Sandbox) -> None:
    code, found = report(run, *DAY, "--export", "5637054")
    assert (code, found["settings"]["timezone"]) == (0, "UTC")
    assert [each["state"] for each in found["answers"] if each["question"] == "export codes"] == ["found"]
    ended = run("check", *DAY, terminal=True)
    shown = re.sub(r"\x1b\[\d+m", "", ended.output)
    assert shown.splitlines()[2:4] == [
        "Configuration",
        f"  base_url         {demo.base_url}  environment variable DATAACCESS_BASE_URL",
    ]
    pasted, _, code_shown = shown.partition("config.toml\n")[2].partition("\nThe same in Python\n")
    assert {"timezone": "UTC", "day_comparison": "exclusive"}.items() <= tomllib.loads(pasted).items()
    assert re.search('^day_comparison = "exclusive"  # after_date .*before_date ', shown, re.MULTILINE)
    assert f'da.Client("{demo.base_url}", timezone="UTC"' in code_shown


def right(found: dict[str, Any], question: str) -> bool | None:
    """Whether a setting is right for the service."""
    answers: dict[str, bool | None] = {each["question"]: each["is_right"] for each in found["answers"]}
    return answers[question]


def test_a_setting_that_is_not_that_of_the_service_is_1(run: Any, demo: da.Sandbox, config: Config) -> None:
    code, found = report(run, *DAY, "--timezone", "Asia/Tokyo")
    assert (code, found["is_ok"], right(found, "timezone"), found["settings"]["timezone"]) == (1, False, False, "UTC")
    config.write('[profiles.a]\nday_comparison = "inclusive"\n')
    code, found = report(run, *DAY, "--profile", "a")
    assert (code, right(found, "timezone"), right(found, "day_comparison")) == (1, True, False)
    assert found["settings"]["day_comparison"] == "exclusive"
    assert demo.requests


def test_scopes_and_a_refused_token(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for scopes, expected in ((["item"], (True, False)), (["download"], (False, None))):
        monkeypatch.setenv("DATAACCESS_TOKEN", demo.issue_token(scopes))
        code, found = report(run, *DAY)
        assert (code, right(found, "scope item"), right(found, "scope download")) == (0, *expected)
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    code, found = report(run, *DAY)
    assert (code, right(found, "scope item"), right(found, "scope download")) == (77, False, False)
    assert "refused by both requests" in run("check").output


def test_a_service_that_is_away_is_75(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "http://127.0.0.1:9")
    code, found = report(run, *DAY)
    assert (code, found["is_reachable"], right(found, "scope item")) == (75, False, None)
    assert "not reached" in run("check").output


def test_a_proxy_is_shown_without_its_password(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    with serving(always(http(b"no", status="403 Forbidden"))) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:hunter2@127.0.0.1:{proxy.port}")
        code, found = report(run)
        source = "environment variable HTTPS_PROXY"
        assert found["configuration"]["proxy"] == {"value": f"127.0.0.1:{proxy.port}", "source": source}
    assert code in (69, 75)
    monkeypatch.setenv("NO_PROXY", "example.com")
    assert "hunter2" not in run("check").output


def test_what_cannot_be_a_client_is_78(run: Any, tmp_path: Path) -> None:
    code, found = report(run)
    assert (code, "base_url" in found["error"], "token" in found["error"]) == (78, True, True)
    token = tmp_path / "token"
    token.write_bytes(b"tok\xff")
    code, found = report(run, "--base-url", "http://127.0.0.1:9", "--token-file", str(token))
    assert (code, found["is_ok"], found["is_reachable"]) == (78, False, False)
