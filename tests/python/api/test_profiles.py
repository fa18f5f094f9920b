"""Profiles: what they say, what wins over them, and where each setting of a client came from."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]

PROFILES = """
[profiles.default]
base_url = "https://cdp.example.com"
token = "tok-default"

[profiles.staging]
base_url = "https://staging.example.com"
token_file = "staging.token"
timezone = "Asia/Tokyo"
timeout = 20
retries = 2
concurrency = 3
headers = { X-Tenant = "acme", X-Api-Key = "hunter2" }
item_types = { store = 7 }
proxy = "http://user:hunter2@proxy:3128"
"""


class Config:
    """The file of profiles of a test."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dataaccess" / "config.toml"
        self.path.parent.mkdir()

    def write(self, text: str, mode: int = 0o600) -> None:
        self.path.write_text(text, encoding="utf-8")
        self.path.chmod(mode)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    config = Config(tmp_path)
    token = config.path.parent / "staging.token"
    token.write_text("tok-staging\n", encoding="utf-8")
    token.chmod(0o600)
    config.write(PROFILES)
    return config


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
        **dict.fromkeys(["base_url", "token", "retries", "concurrency", "proxy", "headers", "item_types"], of_profile),
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
    with pytest.raises(da.ConfigError, match=r"is for https://staging\.example\.com, and the address is another"):
        kind("https://evil.example.com", profile="staging")
    client = kind("https://other.example.com", profile="staging", token="t")
    assert client.timezone == "Asia/Tokyo"
    assert "headers" not in sources(client)
    with pytest.raises(da.ConfigError, match="make a new client"):
        kind(profile="staging").with_options(base_url="https://evil.example.com")
    assert config.path.exists()


@pytest.mark.parametrize("address", [5, "https://[::1", "https://x:port", "nothing"])
def test_an_address_that_is_none_is_reported_with_a_profile_too(config: Config, address: Any) -> None:
    with pytest.raises(da.ConfigError):
        da.Client(address, profile="staging")
    assert config.path.exists()


def test_a_token_of_the_environment_for_the_address_of_a_profile_is_doubtful(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    with pytest.warns(da.DataAccessWarning, match="unset DATAACCESS_TOKEN if it is for another service"):
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
    with pytest.raises(da.ConfigError, match=r"no profile 'staging': .*config\.toml does not exist"):
        pickle.loads(data)


MISTAKES = """
[profiles.one]
timeuot = 3
timeout = "hunter2"
token = 5
retries = true
headers = ["X-Key: hunter2"]
[profiles.two]
token = "tok-hunter2"
"""


def test_all_mistakes_are_reported_with_file_and_key(config: Config) -> None:
    config.write(MISTAKES)
    with pytest.raises(da.ConfigError) as caught:
        da.Client(profile="one")
    lines = caught.value.problems
    assert [line.partition(f"{config.path}: ")[2].partition(" ")[0] for line in lines] == [
        "profiles.one.timeuot",
        "profiles.one.timeout",
        "profiles.one.token",
        "profiles.one.retries",
        "profiles.one.headers",
    ]
    assert lines[0].endswith("is not a setting; did you mean 'timeout'?")
    assert str(caught.value).startswith("5 settings are invalid: (1) ")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "tok-hunter2" not in shown
    assert "X-Key" not in shown
    config.write('colour = "red"\n[profiles]\nthree = "tok-hunter2"\n')
    with pytest.raises(da.ConfigError, match=r"config\.toml: colour is unknown; settings are in \[profiles\.NAME\]"):
        da.Client(profile="three")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base_url = "cdp"', "base_url: the base URL is not a URL"),
        ('base_url = "http://cdp.example.com"', "base_url: the base URL .* is plain http"),
        ("retries = -1", "retries must be an integer from 0 to 10000, not -1"),
        ('timezone = "Foo/Bar"', "timezone.*Foo/Bar"),
        ("timeout = 0", "timeout must be more than 0"),
        ('ca_bundle = "none.pem"', "ca_bundle: .*none.pem"),
        ('headers = { Authorization = "hunter2" }', "headers may not set Authorization"),
    ],
)
def test_a_value_that_cannot_be_used_is_reported_with_its_key(config: Config, text: str, message: str) -> None:
    config.write(f"[profiles.one]\n{text}\n")
    with pytest.raises(da.ConfigError, match=rf"config\.toml: profiles\.one\.{message}") as caught:
        da.Client(profile="one", token="t")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[profiles", "is not TOML: .*"),
        (b"token = 'tok-hunter2'\xff", "is not valid UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(config: Config, content: bytes, message: str) -> None:
    config.path.write_bytes(content)
    del content
    with pytest.raises(da.ConfigError, match=message) as caught:
        da.Client(profile="one")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "hunter2" not in shown
    assert caught.value.__cause__ is None


def test_a_profile_that_is_not_there_is_reported(config: Config) -> None:
    with pytest.raises(da.ConfigError, match=r"no profile 'stagin' in .*; did you mean 'staging'\?"):
        da.Client(profile="stagin")
    with pytest.raises(da.ConfigError, match="it has default, staging"):
        da.Client(profile="x")
    with pytest.raises(da.ConfigError, match="profile= must be a string"):
        da.Client(profile=5)  # type: ignore[arg-type] # not a string
    with pytest.raises(TypeError, match="unexpected keyword argument 'profile'; a new profile needs a new client"):
        da.Client(profile="staging").with_options(profile="default")  # type: ignore[call-arg] # not a setting
    assert config.path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the mode does not say there who may read a file")
def test_a_file_with_a_token_that_others_can_read_causes_a_warning(config: Config) -> None:
    config.write(PROFILES, mode=0o640)
    with pytest.warns(da.DataAccessWarning, match=r"other users may read .*config\.toml, .*chmod 600") as caught:
        da.Client(profile="staging")
    assert caught[0].filename == __file__
    config.write('[profiles.one]\nbase_url = "https://cdp.example.com"\n', mode=0o644)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.Client(profile="one", token="t")


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
