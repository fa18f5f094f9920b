"""Profiles: what they say, what wins over them, and where each setting of a client came from."""

from __future__ import annotations

import pickle
import re
import sys
import tomllib
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.arguments import about
from support.profiles import PASSWORD, PROFILES, TOKEN, Config, document, settings_of_any_kind, texts
from support.searches import search

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
    own = ["base_url", "token", "retry_for", "concurrency", "proxy", "headers", "item_types"]
    given = ["profile", "timezone", "timeout"]
    assert sources(client) == dict.fromkeys(own, of_profile) | dict.fromkeys(given, "argument")
    shown = {"token": "(hidden)", "proxy": "proxy:3128", "headers": {"X-Tenant": "acme", "X-Api-Key": "(hidden)"}}
    assert {name: client.settings[name].value for name in shown} == shown
    assert "hunter2" not in repr(client.settings)
    assert "tok-" not in repr(client.settings)


def test_the_default_profile_is_used_only_where_nothing_says_an_address(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert repr(da.Client()) == "Client('https://cdp.example.com', token from profile default)"
    # With an address the file is not read.
    config.write("no toml")
    assert sources(da.Client("https://other.example.com", token="t")).keys() == {"base_url", "token"}
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://other.example.com")
    assert da.Client(token="t").base_url == "https://other.example.com"


def test_a_missing_token_names_the_default_profile_that_the_address_of_the_environment_excludes(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    unread = rf"profile default of {re.escape(str(config.path))} is not read, as DATAACCESS_BASE_URL is set"
    with pytest.raises(da.ConfigError, match=unread, check=about("token")):
        da.Client()
    for text in ('[profiles.other]\ntoken = "t"\n', "no toml"):
        config.write(text)
        with pytest.raises(da.ConfigError, check=about("token")) as caught:
            da.Client()
        assert str(config.path) not in str(caught.value)


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
    assert search(client)
    assert config.path.exists()


def test_requests_carry_the_token_of_the_profile_and_follow_a_new_one(config: Config, sandbox: da.Sandbox) -> None:
    config.write(f'[profiles.local]\nbase_url = "{sandbox.base_url}"\ntoken = "{sandbox.issue_token()}"\n')
    client = da.Client(profile="local")
    assert search(client)
    old = config.path.read_text(encoding="utf-8").split('"')[3]
    config.write(f'[profiles.local]\nbase_url = "{sandbox.base_url}"\ntoken = "{sandbox.issue_token()}"\n')
    sandbox.revoke(old)
    assert search(client)


def test_functions_of_the_module_follow_the_profile(
    config: Config, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_PROFILE", "local")
    local = f'[profiles.local]\nbase_url = "{sandbox.base_url}"\ntoken = "{sandbox.issue_token()}"\n'
    config.write(local)
    assert len(search(da)) == 73
    config.write(local + 'timezone = "Asia/Tokyo"\n')
    search(da)
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
    assert again.timezone == "Asia/Ho_Chi_Minh"
    assert [again.settings[name].value for name in ("timeout", "retry_for")] == [7.0, 1.0]
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


@pytest.mark.skipif(sys.platform == "win32", reason="the mode does not say there who may read a file")
def test_a_file_with_a_token_that_others_can_read_causes_a_warning(config: Config) -> None:
    config.write(PROFILES, mode=0o640)
    with pytest.warns(da.DataAccessWarning, match=rf" {re.escape(str(config.path))}, .*\bchmod 600\b") as caught:
        da.Client(profile="staging")
    assert caught[0].filename == __file__
    config.write('[profiles.one]\nbase_url = "https://cdp.example.com"\n', mode=0o644)
    # Warnings are errors here.
    da.Client(profile="one", token="t")


# Any file of profiles: the settings that it says, or an error that names the file, the profile and each key.


# The file is written anew by each example.
shared = settings(
    max_examples=settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def shown(error: BaseException) -> str:
    """All that an error shows, and what frames hold. The first frame is of the test itself."""
    found = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
    each: BaseException | None = error
    while each is not None:
        found += repr([frame.f_locals for frame, _ in traceback.walk_tb(each.__traceback__)][1:])
        each = each.__context__
    return found


@shared
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@given(profile=settings_of_any_kind(), name=texts)
def test_any_settings_are_taken_or_refused_by_name(config: Config, profile: dict[str, Any], name: str) -> None:
    config.write(document({name: profile}))
    refused = None
    try:
        client = da.Client(profile=name)
    except da.ConfigError as error:
        refused = error
    if refused is not None:
        text = shown(refused)
        # Without an address or a token there is nothing to name.
        if "base_url" in profile and {"token", "token_file"} & profile.keys():
            assert refused.problems
            for problem in refused.problems:
                assert f"{config.path}: profiles.{name}" in problem
                assert any(key in problem for key in profile)
    else:
        text = repr(client) + repr(client.settings)
        assert profile.keys() <= client.settings.keys() | {"token_file"}
    assert TOKEN not in text
    assert PASSWORD not in text


@shared
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@given(
    content=st.binary(max_size=200) | st.text(alphabet="[]{}=\"'.\n\\#profilestokn1é\0", max_size=60).map(str.encode)
)
@example(content=b'profiles = {a = {token = "' + TOKEN.encode() + b'"}}')
@example(content=b'[profiles.a]\ntoken = """' + TOKEN.encode())
@example(content=b"[profiles.a]\ntoken = '" + TOKEN.encode() + b"'\na = " + b"[" * 5_000)
@example(content=b"[profiles.a]\ntoken = '" + TOKEN.encode() + b"'\na = " + b"9" * 5_000)
@example(content=b"token = '" + TOKEN.encode() + b"'\xff")
@example(content=b"profiles = 7")
@example(content=b'[profiles.a]\ntoken_file = "~a\\u0000"')
@example(content=b'[profiles.a]\nca_bundle = "\\u0000"')
@example(content=b"[profiles.a]\n" + b"a." * 5_000 + b"a = 1")
def test_any_bytes_are_read_or_refused_with_the_file(config: Config, content: bytes) -> None:
    config.path.write_bytes(content)
    for name in ("a", None):
        with pytest.raises(da.ConfigError) as caught:
            da.Client(profile=name)
        # Without a default profile the file says nothing; what names it needs an address and a token.
        assert str(config.path) in str(caught.value) or is_usable(content, name)
        assert TOKEN not in shown(caught.value)


def is_usable(content: bytes, name: str | None) -> bool:
    """Whether a file has nothing wrong about a profile, but no address."""
    try:
        profiles = tomllib.loads(content.decode()).get("profiles", {})
    except ValueError:
        return False
    return name is None if name not in profiles else "base_url" not in profiles[name]
