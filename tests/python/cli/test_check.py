"""`check`: settings with their sources, what the service says, exit codes with a reason, and settings as TOML."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

TOKEN = "tok-hunter2"
DAY = ("--day", "2024-01-15")


@pytest.fixture(autouse=True)
def _sends_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_RETRY_FOR", "0")


def report(run: Any, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report."""
    ended = run("check", "--json", *words)
    assert "hunter2" not in ended.output + ended.reported
    found = json.loads(ended.output)
    assert found["exit_code"] == ended.code
    return ended.code, found


def test_a_working_client_is_0(run: Any, demo: da.Sandbox) -> None:
    before = len(demo.requests)
    code, found = report(run)
    assert (code, found["ok"], found["scopes"], len(demo.requests) - before) == (
        0,
        True,
        {"item": True, "download": None},
        2,
    )
    settings = found["settings"]
    assert settings["base_url"] == {"value": demo.base_url, "source": "environment variable DATAACCESS_BASE_URL"}
    assert settings["token"] == {"value": "(hidden)", "source": "environment variable DATAACCESS_TOKEN"}
    assert report(run, "--timeout", "9")[1]["settings"]["timeout"] == {"value": 9.0, "source": "option"}
    assert set(settings) >= {"retry_for", "proxy", "headers", "profile"}
    assert "client" not in found


def test_a_day_finds_the_settings(run: Any, demo: da.Sandbox) -> None:
    code, found = report(run, *DAY, "--export", "5637054")
    assert (code, found["is_day_right"], found["is_comparison_right"]) == (0, True, True)
    assert found["client"]["timezone"] == found["switches"]["day_zone"] == "UTC"
    assert {each["name"] for each in found["findings"]} >= {"day_zone", "finished_status"}
    ended = run("check", *DAY, terminal=True)
    shown = re.sub(r"\x1b\[\d+m", "", ended.output)
    assert shown.splitlines()[2:4] == [
        "Configuration",
        f"  base_url         {demo.base_url}  environment variable DATAACCESS_BASE_URL",
    ]
    pasted = tomllib.loads(shown.partition("for a profile\n")[2])
    assert {"timezone": "UTC", "day_comparison": "exclusive"}.items() <= pasted.items()
    assert re.search('^day_comparison = "exclusive"  # after_date .*before_date ', shown, re.MULTILINE)


def test_what_it_found_is_a_platform_of_the_sandbox(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "platform.json"

    def checked(platform: str) -> dict[str, Any]:
        with da.Sandbox.demo(until="2024-02-29", platform=platform) as sandbox:
            monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
            monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
            ended = run("check", *DAY, "--json")
        file.write_text(ended.output, encoding="utf-8")
        return {**json.loads(ended.output)["switches"], "latency": 0}

    first = checked("other-zone-inclusive")
    assert (first["day_zone"], first["day_comparison"]) == ("Asia/Kolkata", "inclusive")
    assert checked(str(file)) == first


def test_a_setting_that_is_not_that_of_the_service_is_1(
    run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, found = report(run, *DAY, "--timezone", "Asia/Tokyo")
    assert (code, found["ok"], found["is_day_right"], found["client"]["timezone"]) == (1, False, False, "UTC")
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "dataaccess").mkdir()
    (tmp_path / "dataaccess" / "config.toml").write_text('[profiles.a]\nday_comparison = "inclusive"\n')
    code, found = report(run, *DAY, "--profile", "a")
    assert (code, found["is_day_right"], found["is_comparison_right"], found["ok"]) == (1, True, False, False)
    assert re.search(r'\bday_comparison .*"exclusive"', found["comparison"])
    assert demo.requests


def test_scopes_and_a_refused_token(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", demo.issue_token(["item"]))
    code, found = report(run)
    assert (code, found["scopes"]) == (0, {"item": True, "download": False})
    monkeypatch.setenv("DATAACCESS_TOKEN", demo.issue_token(["download"]))
    code, found = report(run, *DAY)
    assert (found["scopes"]["item"], "client" in found) == (False, False)
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    code, found = report(run, *DAY)
    assert (code, found["scopes"]) == (77, {"item": False, "download": False})
    assert "not accepted" in run("check").output


@pytest.mark.parametrize(
    ("address", "code"), [("https://nobody.invalid", 75), ("https://localhost:9", 75), ("http://127.0.0.1:9", 75)]
)
def test_a_service_that_is_away(run: Any, monkeypatch: pytest.MonkeyPatch, address: str, code: int) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    monkeypatch.setenv("DATAACCESS_BASE_URL", address)
    found = report(run, *DAY)
    assert (found[0], found[1]["is_reachable"], found[1]["scopes"]) == (code, False, {"item": None, "download": None})
    assert "not reached" in run("check").output


def test_a_port_without_tls_is_69(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", demo.base_url.replace("http://127.0.0.1", "https://localhost"))
    code, found = report(run)
    assert (code, "TLS" in found["errors"]["item"]) == (69, True)


@pytest.mark.parametrize(
    ("response", "code", "reason"),
    [
        (http({"error": "no route"}, status="404 Not Found"), 69, "(HTTP 404)"),
        (http(b"<html>", content_type="text/html"), 65, "JSON"),
        (http(b"", status="503 Service Unavailable"), 75, "(HTTP 503)"),
        (http(b"", status="302 Found", headers=("Location: https://login.example/",)), 69, "login.example"),
    ],
    ids=["no path", "no JSON", "busy", "redirect"],
)
def test_every_refusal_is_a_reason(
    run: Any, monkeypatch: pytest.MonkeyPatch, response: bytes, code: int, reason: str
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "any")
    with serving(always(response)) as server:
        monkeypatch.setenv("DATAACCESS_BASE_URL", server.base_url)
        found = report(run)
        assert reason in run("check").output
    assert (found[0], reason in found[1]["errors"]["item"]) == (code, True)


def test_a_proxy_is_shown_without_its_password(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    with serving(always(http(b"no", status="403 Forbidden"))) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:hunter2@127.0.0.1:{proxy.port}")
        code, found = report(run)
        source = "environment variable HTTPS_PROXY"
        assert found["settings"]["proxy"] == {"value": f"127.0.0.1:{proxy.port}", "source": source}
    assert code in (69, 75)
    monkeypatch.setenv("NO_PROXY", "example.com")
    assert "hunter2" not in run("check").output


def test_what_cannot_be_a_client_is_78(run: Any, tmp_path: Path) -> None:
    code, found = report(run)
    assert (code, "base_url" in found["error"], "token" in found["error"]) == (78, True, True)
    token = tmp_path / "token"
    token.write_bytes(b"tok\xff")
    code, found = report(run, "--base-url", "http://127.0.0.1:9", "--token-file", str(token))
    assert (code, found["ok"], found["is_reachable"]) == (78, False, False)


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--export", "5637054"], "--export .*--day"), (["--day", "15.1.2024"], r"--day: .*15\.1\.2024")],
)
def test_what_is_typed_wrong_sends_nothing(run: Any, demo: da.Sandbox, words: list[str], named: str) -> None:
    demo.clear_requests()
    ended = run("check", *words)
    assert (ended.code, ended.output, bool(re.search(named, ended.reported))) == (2, "", True)
    assert demo.requests == []
