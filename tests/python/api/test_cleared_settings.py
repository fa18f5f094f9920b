"""None clears a setting, whatever the environment or a profile says, and so it stays in copies and pickles."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.profiles import Config

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]
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
CLEARED: dict[str, Any] = {
    "known_row_cap": None,
    "concurrency": None,
    "requests_per_second": None,
    "ca_bundle": None,
    "proxy": None,
    "headers": None,
    "user_agent": None,
    "item_types": {},
    "record": None,
}


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
    for one in (
        cleared,
        kind(profile="p", **{name: None}),
        pickle.loads(pickle.dumps(cleared)),
        pickle.loads(pickle.dumps(cleared)).with_options(retry_for=1),
    ):
        assert one.settings[name].value == CLEARED[name]
        # The others are those of the profile.
        others = CLEARED.keys() - {name}
        assert {other: one.settings[other] for other in others} == {other: client.settings[other] for other in others}
        assert one.settings["timeout"].value == 20
    assert pickle.loads(pickle.dumps(client)).settings[name] == client.settings[name]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("name", "variable"), [("proxy", "HTTPS_PROXY"), ("ca_bundle", "SSL_CERT_FILE")])
def test_none_clears_what_the_environment_says(
    kind: Any, name: str, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    client = kind()
    assert client.settings[name].source == f"environment variable {variable}"
    (other,) = {"proxy", "ca_bundle"} - {name}
    cleared = kind(**{name: None})
    for one in (
        cleared,
        client.with_options(**{name: None}),
        cleared.with_options(timeout=9),
        pickle.loads(pickle.dumps(cleared)),
    ):
        assert one.settings[name] == da.Setting(None, "argument")
        assert one.settings[other] == client.settings[other]
        assert one.base_url == "https://cdp.example.com"


def test_a_recording_that_is_off_is_off_where_the_client_travels(profile: Config) -> None:
    with pytest.warns(da.DataAccessWarning):
        data = pickle.dumps(da.Client(profile="p").with_options(record=None))
    file = profile.path.parent / "exchanges.jsonl"
    file.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(data)
    assert not file.exists()


def test_an_address_that_is_cleared_is_that_of_the_environment(
    profile: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile.write('[profiles.p]\nbase_url = "https://cdp.example.com"\ntoken = "tok"\n')
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com/v2")
    cleared = da.Client("https://cdp.example.com", profile="p").with_options(base_url=None)
    assert cleared.base_url == pickle.loads(pickle.dumps(cleared)).base_url == "https://cdp.example.com/v2"
