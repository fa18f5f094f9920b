"""`doctor`: settings with their sources, and the step of a request that fails."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

TOKEN = "tok-hunter2"


def report(run: Any, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report."""
    ended = run("doctor", "--json", "--retry-for", "0", *words)
    assert "hunter2" not in ended.output + ended.reported
    return ended.code, json.loads(ended.output)


def marks(steps: list[dict[str, Any]]) -> dict[str, bool | None]:
    """Whether each step succeeded."""
    return {step["name"]: step["ok"] for step in steps}


def test_a_working_client_is_0(run: Any, demo: da.Sandbox) -> None:
    code, found = report(run, "--day", "2024-01-15")
    assert (code, found["ok"], found["is_day_right"], found["is_comparison_right"]) == (0, True, True, True)
    assert marks(found["steps"]) == {"dns": True, "tcp": True, "http": True}
    assert marks(found["token"]) == {
        "token": True,
        "scope item": True,
        "scope download": None,
        "day": True,
        "ranges": True,
    }
    assert found["settings"]["base_url"] == {
        "value": demo.base_url,
        "source": "environment variable DATAACCESS_BASE_URL",
    }
    assert found["settings"]["token"]["source"] == "environment variable DATAACCESS_TOKEN"
    assert found["settings"]["retry_for"] == {"value": 0.0, "source": "option"}
    assert set(found["settings"]) >= {"timeout", "proxy", "headers", "profile"}


def test_a_token_without_a_scope_is_shown(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", demo.issue_token(["item"]))
    code, found = report(run)
    assert (code, marks(found["token"])) == (0, {"token": True, "scope item": True, "scope download": False})
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    code, found = report(run)
    assert (code, marks(found["token"])) == (77, {"token": False, "scope item": False, "scope download": False})


@pytest.mark.parametrize(
    ("address", "steps", "code"),
    [
        ("https://nobody.invalid", {"dns": False, "tcp": None, "tls": None, "http": None}, 75),
        ("https://localhost:9", {"dns": True, "tcp": False, "tls": None, "http": None}, 75),
        ("http://127.0.0.1:9", {"dns": True, "tcp": False, "http": None}, 75),
    ],
)
def test_the_step_that_fails_is_named(
    run: Any, monkeypatch: pytest.MonkeyPatch, address: str, steps: dict[str, bool | None], code: int
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    found = report(run, "--base-url", address)
    assert (found[0], marks(found[1]["steps"])) == (code, steps)
    assert marks(found[1]["token"]) == {"token": None, "scope item": None, "scope download": None}


def test_a_port_without_tls_fails_at_tls(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATAACCESS_BASE_URL")
    address = demo.base_url.replace("http://127.0.0.1", "https://localhost")
    code, found = report(run, "--base-url", address)
    assert (code, marks(found["steps"])) == (69, {"dns": True, "tcp": True, "tls": False, "http": None})


def test_a_proxy_is_a_step(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", TOKEN)
    with serving(always(http(b"no", status="403 Forbidden"))) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:hunter2@127.0.0.1:{proxy.port}")
        code, found = report(run, "--base-url", "https://cdp.example.com")
        assert marks(found["steps"]) == {"dns": True, "tcp": True, "proxy": False, "tls": None, "http": None}
        source = "environment variable HTTPS_PROXY"
        assert found["settings"]["proxy"] == {"value": f"127.0.0.1:{proxy.port}", "source": source}
        assert code in (69, 75)
        monkeypatch.setenv("NO_PROXY", "example.com")
        ended = run("doctor", "--json", "--offline", "--base-url", "https://cdp.example.com")
        assert json.loads(ended.output)["settings"]["proxy"] == {"value": None, "source": "default"}


def test_what_cannot_be_a_client_is_78(run: Any, tmp_path: Path) -> None:
    ended = run("doctor", "--json")
    assert ended.code == 78
    assert [line.split()[0] for line in json.loads(ended.output)["problems"]] == ["base_url", "token"]
    shown = run("doctor", terminal=True)
    assert re.search(r"✗\x1b\[0m configuration  base_url .*DATAACCESS_BASE_URL", shown.output)
    token = tmp_path / "token"
    token.write_bytes(b"tok\xff")
    ended = run("doctor", "--base-url", "http://127.0.0.1:9", "--token-file", str(token), "--json")
    found = json.loads(ended.output)
    assert (ended.code, found["token"][0]["ok"], marks(found["steps"])["tcp"]) == (78, False, None)


def test_offline_sends_nothing(run: Any, demo: da.Sandbox) -> None:
    before = len(demo.requests)
    ended = run("doctor", "--offline")
    assert (ended.code, len(demo.requests)) == (0, before)
    assert ended.output.splitlines()[2:4] == [
        "Configuration",
        f"  base_url         {demo.base_url}  environment variable DATAACCESS_BASE_URL",
    ]
    assert "Connection" not in ended.output
