"""Settings: where they come from, what is refused, and what a copy shares."""

from __future__ import annotations

import os
import pickle
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.arguments import about
from support.commands import run_here
from support.profiles import Config
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da

__all__ = ["run_here"]

CLASSES = [da.Client, da.AsyncClient]
DAY = da.on("2024-01-15")


@pytest.mark.parametrize("kind", CLASSES)
def test_a_constructor_takes_the_address_by_position_and_classes_may_be_derived(kind: Any) -> None:
    with pytest.raises(TypeError, match=r" 1 to 2 .* 3\b") as caught:
        kind("https://cdp.example.com", "hunter2")
    assert "hunter2" not in str(caught.value)

    class Own(kind):  # type: ignore[misc] # one class or the other
        pass

    class Mixed:
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **{"token": "tok", **keywords})

    own = type("Own", (Mixed, kind), {})
    assert own("https://cdp.example.com").base_url == Own("https://cdp.example.com", token="t").base_url


@pytest.mark.parametrize("kind", CLASSES)
def test_a_token_stays_with_its_service(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    for source in ({"token": "tok-text"}, {}):
        client = kind("https://cdp.example.com/a", **source)
        for same in ("https://cdp.example.com:443/b", "https://CDP.example.com"):
            assert client.with_options(base_url=same).base_url.startswith("https://cdp.example.com")
        for other in ("https://evil.example.com", "https://cdp.example.com:8443", "http://127.0.0.1:1"):
            shown = rf" {re.escape(other)}: .* {re.escape(other)}, "
            with pytest.raises(da.ConfigError, match=shown, check=about("base_url")) as caught:
                client.with_options(base_url=other)
            assert "tok-" not in str(caught.value)
    moved = kind("https://cdp.example.com", token=lambda: "tok").with_options(base_url="https://other.example.com")
    assert moved.base_url == "https://other.example.com"


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_the_token_of_the_sandbox_stays_there_too() -> None:
    client = da.Client("sandbox:demo")
    assert repr(client) == "Client('sandbox:demo', token from the sandbox)"
    with pytest.raises(da.ConfigError, match=r" https://cdp\.example\.com: ", check=about("base_url")):
        client.with_options(base_url="https://cdp.example.com")
    back = da.Client("https://cdp.example.com", token="tok").with_options(base_url="sandbox:demo?until=2024-02-29")
    assert len(search(back)) == 73


def test_options_make_a_copy_that_shares_connections() -> None:
    with serving(always(http())) as server:
        client = da.Client(server.base_url, token="tok-1", timezone="Asia/Tokyo")
        copy = client.with_options(timeout=timedelta(seconds=9), retry_for=0)
        for one in (client, copy, client):
            search(one)
        assert server.connections == 1
        assert copy.timezone == "Asia/Tokyo"
        copy.close()
        assert (client.is_closed, copy.is_closed) == (False, True)
        search(client)
        with pytest.raises(da.ClientClosedError):
            search(copy)


def test_module_functions_follow_the_environment_and_reuse_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(always(http())) as server:
        monkeypatch.setenv("DATAACCESS_BASE_URL", server.base_url)
        for token in ("tok-1", "tok-1", "tok-1", "tok-2"):
            monkeypatch.setenv("DATAACCESS_TOKEN", token)
            search(da)
            assert server.connections == 1 or token == "tok-2"
        assert [request.headers["authorization"][-5:] for request in server.requests] == ["tok-1"] * 3 + ["tok-2"]
        assert da.scan_codes(["id"], allocated_time=DAY).to_dicts() == search(da)
        assert da.scan_items("customer", ["id"], da.col("customer_id").equals("a")).collect().num_rows == 2


# None clears a setting, whatever the environment or a profile says, and so it stays in copies and pickles.


PROFILE = """
[profiles.p]
base_url = "https://cdp.example.com"
token = "tok-profile"
concurrency = 3
requests_per_second = 5
known_row_cap = 9
ca_bundle = "ca.pem"
proxy = "http://proxy:3128"
headers = { X-Tenant = "acme" }
user_agent = "nightly-job/3"
item_types = { store = 7 }
record = "exchanges.jsonl"
timeout = 20
"""
CLEARED = [
    *("known_row_cap", "concurrency", "requests_per_second", "ca_bundle", "proxy", "headers", "user_agent"),
    *("item_types", "record"),
]


OF_ENVIRONMENT = {"proxy": "HTTPS_PROXY", "ca_bundle": "SSL_CERT_FILE", "concurrency": "DATAACCESS_CONCURRENCY"}


@pytest.fixture
def profile(config: Config) -> Config:
    trustme.CA().cert_pem.write_to_path(str(config.path.parent / "ca.pem"))
    config.write(PROFILE)
    return config


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", CLEARED)
@pytest.mark.usefixtures("profile")
def test_a_setting_that_is_cleared_stays_cleared(kind: Any, name: str) -> None:
    client = kind(profile="p")
    assert client.settings[name].value not in (None, {})
    cleared = client.with_options(**{name: None})
    again = pickle.loads(pickle.dumps(cleared))
    for one in (cleared, kind(profile="p", **{name: None}), again, again.with_options(retry_for=1)):
        assert one.settings[name].value == ({} if name == "item_types" else None)
        # The others are those of the profile.
        others = {*CLEARED} - {name}
        assert {other: one.settings[other] for other in others} == {other: client.settings[other] for other in others}
        assert one.settings["timeout"].value == 20
    assert pickle.loads(pickle.dumps(client)).settings[name] == client.settings[name]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", OF_ENVIRONMENT)
def test_none_clears_what_the_environment_says(
    kind: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    texts = {"proxy": "http://proxy:3128", "ca_bundle": str(tmp_path / "ca.pem"), "concurrency": "3"}
    for other, text in texts.items():
        monkeypatch.setenv(OF_ENVIRONMENT[other], text)
    client = kind()
    assert client.settings[name].source == f"environment variable {OF_ENVIRONMENT[name]}"
    cleared, copy = kind(**{name: None}), client.with_options(**{name: None})
    for one in (cleared, copy, cleared.with_options(timeout=9), pickle.loads(pickle.dumps(cleared))):
        assert one.settings[name] == da.Setting(None, "argument")
        others = texts.keys() - {name}
        assert {other: one.settings[other] for other in others} == {other: client.settings[other] for other in others}
        assert one.base_url == "https://cdp.example.com"


def test_an_address_that_is_cleared_is_that_of_the_environment(
    profile: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile.write('[profiles.p]\nbase_url = "https://cdp.example.com"\ntoken = "tok"\n')
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com/v2")
    cleared = da.Client("https://cdp.example.com", profile="p").with_options(base_url=None)
    assert cleared.base_url == pickle.loads(pickle.dumps(cleared)).base_url == "https://cdp.example.com/v2"


ADDRESS = "https://cdp.example.com"


@pytest.fixture
def token(tmp_path: Path, sandbox: da.Sandbox) -> Path:
    """The file of a token."""
    file = tmp_path / "token"
    file.write_text(f"{sandbox.issue_token()}\n")
    file.chmod(0o600)
    return file


def test_the_file_of_the_token_is_followed(monkeypatch: pytest.MonkeyPatch, sandbox: da.Sandbox, token: Path) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    with da.Client() as client:
        assert client.settings["token"].source == "environment variable DATAACCESS_TOKEN_FILE"
        assert "token from environment" in repr(client)
        assert len(search(client)) == 73
        sandbox.revoke(token.read_text().strip())
        token.write_text(sandbox.issue_token())
        # The functions of the module follow the variable.
        for one in (client, pickle.loads(pickle.dumps(client)), da):
            assert len(search(one)) == 73


@pytest.mark.parametrize("kind", CLASSES)
def test_two_tokens_are_refused(monkeypatch: pytest.MonkeyPatch, token: Path, kind: Any) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    with pytest.raises(da.ConfigError, match=r"\bDATAACCESS_TOKEN .*\bDATAACCESS_TOKEN_FILE ", check=about("token")):
        kind(ADDRESS)
    kind(ADDRESS, token="another")


def test_the_token_of_the_file_stays_with_its_address(monkeypatch: pytest.MonkeyPatch, token: Path) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", ADDRESS)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    shown = r" DATAACCESS_TOKEN_FILE .* DATAACCESS_BASE_URL, .* https://elsewhere\.example\.com "
    with pytest.raises(da.ConfigError, match=shown, check=about("token")):
        da.Client("https://elsewhere.example.com")


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_a_variable_that_nothing_reads_is_named_except_for_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_ACCESS_BASE_URL", "secret-value")
    with pytest.warns(da.DataAccessWarning, match=r" DATA_ACCESS_BASE_URL; .* 'DATAACCESS_BASE_URL'\?") as seen:
        da.Client(ADDRESS, token="tok")
    assert "secret-value" not in str(seen[0].message)
    assert seen[0].filename == __file__
    da.Client("sandbox:demo")


def test_each_variable_of_the_sources_is_known() -> None:
    from dataaccess._client.settings import KNOWN, SETTINGS

    texts = [path.read_text(encoding="utf-8") for path in Path(da.__file__).parent.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\bDATAACCESS_[A-Z_]+[A-Z]\b", text)}
    assert read - {"DATAACCESS_SPARK_ALLOW", "DATAACCESS_SPARK", "DATAACCESS_DEFAULT"} <= KNOWN
    assert KNOWN - read <= {spec.variable for spec in SETTINGS.values()}
    assert not KNOWN & os.environ.keys()


@pytest.mark.parametrize("kind", CLASSES)
def test_headers_of_the_environment_stay_with_its_service(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setenv("DATAACCESS_HEADERS", '{"X-Api-Key": "hunter2"}')
    # Without an address of the environment, code says which service they are for.
    client = kind("https://elsewhere.example.com", token=lambda: "tok")
    assert client.settings["headers"].value == {"X-Api-Key": "(hidden)"}
    assert "hunter2" not in repr(client.settings) + repr(vars(client))
    assert b"hunter2" not in pickle.dumps(da.Client(ADDRESS, token=da.token_file("token")))
    monkeypatch.setenv("DATAACCESS_BASE_URL", ADDRESS)
    assert kind("https://elsewhere.example.com", token="tok").settings["headers"].value is None
    own = kind(token=lambda: "tok")
    assert own.settings["headers"].source == "environment variable DATAACCESS_HEADERS"
    assert own.with_options(base_url="https://elsewhere.example.com").settings["headers"].value is None
    assert own.with_options(base_url=f"{ADDRESS}/v2").settings["headers"].value is not None


def test_a_proxy_of_the_environment_is_not_for_this_machine(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_PROXY", "http://user:hunter2@proxy:3128")
    assert da.Client("http://localhost:1", token="tok").settings["proxy"].value is None
    client = da.Client(ADDRESS, token=lambda: "tok")
    assert client.settings["proxy"] == da.Setting("proxy:3128", "environment variable DATAACCESS_PROXY")
    assert client.with_options(base_url="http://127.1:1").settings["proxy"].value is None
    monkeypatch.setenv("HTTPS_PROXY", "http://other:3128")
    assert da.Client(ADDRESS, token="tok").settings["proxy"].value == "proxy:3128"
    # A variable that many programs read comes before a profile.
    monkeypatch.delenv("DATAACCESS_PROXY")
    config.write(f'[profiles.p]\nbase_url = "{ADDRESS}"\ntoken = "tok"\nproxy = "http://profile:3128"\n')
    assert da.Client(profile="p").settings["proxy"].value == "other:3128"
    assert da.Client(ADDRESS, token="tok", proxy=None).settings["proxy"].value is None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder, which is not the current one."""
    folder, current = tmp_path / "home", tmp_path / "current"
    folder.mkdir()
    current.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.chdir(current)
    return folder


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_every_path_may_begin_with_the_home_folder(home: Path, sandbox: da.Sandbox, run_here: Any) -> None:
    own = home / "token"
    own.write_text(sandbox.issue_token())
    own.chmod(0o600)
    with da.Client(sandbox.base_url, token=da.token_file("~/token"), record="~/exchanges.jsonl") as client:
        assert (rows := search(client))
    with da.Sandbox.replay("~/exchanges.jsonl") as replayed:
        assert search(replayed.client()) == rows
    code, printed, reported = run_here(
        "codes", "--on", "2024-01-15", "--attrs", "id", "--json", "--token-file=~/token", "--base-url", sandbox.base_url
    )
    assert (code, len(printed.splitlines())) == (0, len(rows)), reported
    with pytest.raises(da.ConfigError, match=str(home / "ca.pem").replace("\\", ".")):
        da.Client("https://cdp.example.com", token="t", ca_bundle="~/ca.pem")
    assert list(Path().iterdir()) == []


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_a_path_in_a_profile_starts_at_its_folder_or_at_home(home: Path, config: Config, sandbox: da.Sandbox) -> None:
    for name, folder in (("~/token", home), ("token", config.path.parent)):
        (folder / "token").write_text(sandbox.issue_token())
        (folder / "token").chmod(0o600)
        paths = f'token_file = "{name}"\nrecord = "all.jsonl"\n'
        config.write(f'[profiles.p]\nbase_url = "{sandbox.base_url}"\n{paths}')
        assert search(da.Client(profile="p"))
        assert list(Path().iterdir()) == []
        (config.path.parent / "all.jsonl").unlink()


def test_a_relative_path_is_that_of_the_call(home: Path, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("token").write_text(sandbox.issue_token())
    Path("token").chmod(0o600)
    token = da.token_file("token")
    client = da.Client(sandbox.base_url, token=token)
    data, of_client = pickle.dumps(token), pickle.dumps(client)
    monkeypatch.chdir(home)
    assert token() == pickle.loads(data)()
    for one in (client, pickle.loads(of_client)):
        assert search(one)
    assert token.path.is_absolute()


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_a_record_travels_as_an_absolute_path(home: Path, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
    data = pickle.dumps(da.Client(sandbox.base_url, record="exchanges.jsonl"))
    recorded = Path("exchanges.jsonl").absolute()
    monkeypatch.chdir(home)
    assert pickle.loads(data).settings["record"].value == str(recorded)
    assert list(home.iterdir()) == []
