"""`doctor`: whenever its exit code is not 0, a step says why; and no step claims what did not happen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

NOT_FOUND = http({"error": "no route"}, status="404 Not Found")


def failed_steps(run: Any, *words: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the failed steps with their reasons, which the text shows too."""
    ended = run("doctor", "--json", "--retry-for", "0", *words)
    found = json.loads(ended.output)
    failed = {step["name"]: step["detail"] for step in [*found["steps"], *found["token"]] if step["ok"] is False}
    assert found["ok"] == (ended.code == 0)
    shown = run("doctor", "--retry-for", "0", *words).output
    for name in failed:
        assert f"✗ {name} " in shown
    return ended.code, failed


@pytest.mark.parametrize("path", ["/foo", "/access/api"])
def test_a_wrong_path_fails_at_http(run: Any, demo: da.Sandbox, path: str) -> None:
    code, failed = failed_steps(run, "--base-url", f"{demo.base_url}{path}")
    assert (code, list(failed)) == (69, ["http"])
    assert "(HTTP 404)" in failed["http"]
    assert failed["http"].endswith(" --base-url")


def test_a_token_whose_requests_were_refused_for_another_reason_is_not_known(run: Any, demo: da.Sandbox) -> None:
    found = json.loads(run("doctor", "--json", "--base-url", f"{demo.base_url}/foo").output)
    assert (found["token"][0]["name"], found["token"][0]["ok"]) == ("token", None)


@pytest.mark.filterwarnings("ignore::dataaccess.errors.DataAccessWarning")
def test_a_recording_without_the_requests_is_a_reason(
    run: Any, demo: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with da.Client(demo.base_url, token=demo.issue_token(), record=tmp_path / "recording") as client:
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    with da.Sandbox.replay(tmp_path / "recording") as replayed:
        monkeypatch.setenv("DATAACCESS_TOKEN", "any")
        monkeypatch.setenv("DATAACCESS_BASE_URL", replayed.base_url)
        code, failed = failed_steps(run)
    assert (code, list(failed)) == (69, ["http"])
    assert "(HTTP 404)" in failed["http"]


@pytest.mark.parametrize(
    ("response", "code", "reason"),
    [
        (NOT_FOUND, 69, "(HTTP 404)"),
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
        found, failed = failed_steps(run, "--base-url", server.base_url)
    assert (found, list(failed)) == (code, ["http"])
    assert reason in failed["http"]


def test_a_scope_that_is_not_known_says_why(run: Any, demo: da.Sandbox) -> None:
    with demo.fault("status", path="/access/api/segment/download", status=500):
        found = json.loads(run("doctor", "--json").output)
    (scope,) = [step for step in found["token"] if step["name"] == "scope download"]
    assert (found["ok"], scope["ok"]) == (True, None)
    assert "(HTTP 500)" in scope["detail"]


def test_a_day_that_could_not_be_read_says_why(run: Any, demo: da.Sandbox) -> None:
    with demo.fault("status", after=2, status=500):
        found = json.loads(run("doctor", "--json", "--day", "2024-01-15").output)
    (day,) = [step for step in found["token"] if step["name"] == "day"]
    assert day["ok"] is None
    assert "(HTTP 500)" in day["detail"]


@pytest.mark.parametrize(
    ("proxy", "marks"),
    [
        ("127.0.0.1:9", {"dns": True, "tcp": False, "proxy": None, "tls": None, "http": None}),
        ("nobody.invalid:99", {"dns": False, "tcp": None, "proxy": None, "tls": None, "http": None}),
    ],
    ids=["port", "name"],
)
def test_a_proxy_that_is_away_fails_before_its_own_step(
    run: Any, monkeypatch: pytest.MonkeyPatch, proxy: str, marks: dict[str, bool | None]
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "any")
    monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy}")
    ended = run("doctor", "--json", "--base-url", "https://cdp.example.com")
    steps = json.loads(ended.output)["steps"]
    assert {step["name"]: step["ok"] for step in steps} == marks
    assert ended.code == 75
    (failed,) = [step["detail"] for step in steps if step["ok"] is False]
    assert proxy in failed
