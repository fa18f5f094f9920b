"""Profiles: what they say, what wins over them, and where each setting of a client came from."""

from __future__ import annotations

import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about
from support.profiles import PROFILES, Config

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]


def sources(client: Any) -> dict[str, str]:
    """Where the settings came from that are no defaults."""
    return {name: one.source for name, one in client.settings.items() if one.source != "default"}


@pytest.mark.parametrize("kind", CLASSES)
def test_a_profile_says_what_nothing_else_says(kind: Any, config: Config) -> None:
    client = kind(profile="staging", timeout=300, timezone="UTC")
    of_profile = f"profile staging in {config.path}"
    assert repr(client) == f"{kind.__name__}('https://staging.example.com', token from profile staging)"
    # An argument wins, even one that equals the default.
    assert (client.timezone, client.settings["timeout"].value, client.item_types) == ("UTC", 300.0, {"store": 7})
    assert sources(client) == {
        **dict.fromkeys(
            ["base_url", "token", "retry_for", "concurrency", "proxy", "headers", "item_types"], of_profile
        ),
        **dict.fromkeys(["profile", "timezone", "timeout"], "argument"),
    }
    assert client.settings["token"].value == "(hidden)"
    assert client.settings["proxy"].value == "proxy:3128"
    assert client.settings["headers"].value == {"X-Tenant": "acme", "X-Api-Key": "(hidden)"}
    assert "hunter2" not in repr(client.settings)
    assert "tok-" not in repr(client.settings)


@pytest.mark.parametrize("kind", CLASSES)
def test_the_environment_wins_over_a_profile(kind: Any, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_PROFILE", "staging")
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://staging.example.com:443/v2")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    monkeypatch.setenv("HTTPS_PROXY", "http://other:3128")
    client = kind()
    assert client.base_url == "https://staging.example.com/v2"
    found = sources(client)
    assert found["base_url"] == "environment variable DATAACCESS_BASE_URL"
    assert found["token"] == "environment variable DATAACCESS_TOKEN"
    assert found["profile"] == "environment variable DATAACCESS_PROFILE"
    assert found["proxy"] == "environment variable HTTPS_PROXY"
    assert found["timezone"] == f"profile staging in {config.path}"
    assert kind(profile="default").settings["profile"].value == "default"


def test_the_default_profile_is_used_only_where_nothing_says_an_address(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert repr(da.Client()) == "Client('https://cdp.example.com', token from profile default)"
    # With an address the file is not read.
    config.write("no toml")
    assert sources(da.Client("https://other.example.com", token="t")).keys() == {"base_url", "token"}
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://other.example.com")
    assert da.Client(token="t").base_url == "https://other.example.com"


@pytest.mark.parametrize("kind", CLASSES)
def test_a_token_of_a_profile_stays_with_its_service(kind: Any, config: Config) -> None:
    hosts = r" https://staging\.example\.com, .*https://evil\.example\.com "
    with pytest.raises(da.ConfigError, match=hosts, check=about("token")):
        kind("https://evil.example.com", profile="staging")
    client = kind("https://other.example.com", profile="staging", token="t")
    assert client.timezone == "Asia/Tokyo"
    assert "headers" not in sources(client)
    with pytest.raises(da.ConfigError, match=r" https://evil\.example\.com\b", check=about("base_url")):
        kind(profile="staging").with_options(base_url="https://evil.example.com")
    assert config.path.exists()


def test_a_token_of_the_environment_for_the_address_of_a_profile_is_doubtful(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    with pytest.warns(da.DataAccessWarning, match=rf"\bDATAACCESS_TOKEN .*{re.escape(str(config.path))}"):
        client = da.Client(profile="staging")
    assert sources(client)["token"] == "environment variable DATAACCESS_TOKEN"
    # A profile without a token of its own asks for one.
    config.write('[profiles.ci]\nbase_url = "https://cdp.example.com"\n')
    assert repr(da.Client(profile="ci")).endswith("token from environment)")


def test_a_proxy_of_a_profile_is_not_for_this_machine(config: Config, sandbox: da.Sandbox) -> None:
    client = da.Client(sandbox.base_url, token=sandbox.issue_token(), profile="staging")
    assert "proxy" not in sources(client)
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    assert config.path.exists()


def test_requests_carry_the_token_of_the_profile_and_follow_a_new_one(config: Config, sandbox: da.Sandbox) -> None:
    config.write(f'[profiles.local]\nbase_url = "{sandbox.base_url}"\ntoken = "{sandbox.issue_token()}"\n')
    client = da.Client(profile="local")
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    old = config.path.read_text(encoding="utf-8").split('"')[3]
    config.write(f'[profiles.local]\nbase_url = "{sandbox.base_url}"\ntoken = "{sandbox.issue_token()}"\n')
    sandbox.revoke(old)
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)


def test_functions_of_the_module_follow_the_profile(
    config: Config, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_PROFILE", "local")
    local = f'[profiles.local]\nbase_url = "{sandbox.base_url}"\ntoken = "{sandbox.issue_token()}"\n'
    config.write(local)
    assert len(da.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 73
    config.write(local + 'timezone = "Asia/Tokyo"\n')
    da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    body: Any = sandbox.requests[-1].body
    assert body["filters"]["OR"][0]["AND"][0]["value"] == 1705244400000


@pytest.mark.parametrize("kind", CLASSES)
def test_a_pickle_looks_the_profile_up_again(kind: Any, config: Config) -> None:
    client = kind(profile="staging", timeout=7)
    task = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).tasks()[0]
    data, of_task = pickle.dumps(client.with_options(retry_for=1)), pickle.dumps(task)
    for secret in (b"tok-", b"hunter2", b"staging.example.com", b"Asia/Tokyo"):
        assert secret not in data
    config.write(PROFILES.replace("Asia/Tokyo", "Asia/Ho_Chi_Minh"))
    again = pickle.loads(data)
    assert (again.timezone, again.settings["timeout"].value, again.settings["retry_for"].value) == (
        "Asia/Ho_Chi_Minh",
        7.0,
        1.0,
    )
    assert pickle.loads(of_task)._client.timezone == "Asia/Ho_Chi_Minh"
    config.path.unlink()
    with pytest.raises(da.ConfigError, match=rf" 'staging' .*{re.escape(str(config.path))}"):
        pickle.loads(data)


def test_the_folder_is_that_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dataaccess._client.profiles import config_path

    if sys.platform != "win32":
        monkeypatch.setenv("HOME", str(tmp_path))
        for unusable in ("", "relative/path"):
            monkeypatch.setenv("XDG_CONFIG_HOME", unusable)
            assert config_path() == tmp_path / ".config" / "dataaccess" / "config.toml"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("APPDATA", str(tmp_path))
    assert config_path() == tmp_path / "dataaccess" / "config.toml"
    assert os.environ["APPDATA"]
