"""Clients of a sandbox obey no profile and no variables of the user; `environment()` names the sandbox to others."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from support.profiles import Config, config

import dataaccess as da
from dataaccess._client.settings import SETTINGS

__all__ = ["config"]

DAY = da.on("2024-01-15")
PROFILE = """
[profiles.mine]
base_url = "https://cdp.example.com"
token = "tok-mine"
timezone = "Asia/Tokyo"
record = "mine.jsonl"
concurrency = 1
proxy = "http://proxy:3128"
headers = { X-Api-Key = "hunter2" }
"""

MAKERS: dict[str, Callable[[da.Sandbox], Any]] = {
    "client": lambda sandbox: sandbox.client(),
    "async_client": lambda sandbox: sandbox.async_client(),
    "its address": lambda sandbox: da.Client(sandbox.base_url, token=sandbox.issue_token()),
    "a slash behind it": lambda sandbox: da.Client(f"{sandbox.base_url}/", token=sandbox.issue_token()),
    "capitals": lambda sandbox: da.Client(sandbox.base_url.replace("http", "HTTP"), token=sandbox.issue_token()),
    "sandbox:demo": lambda _: da.Client("sandbox:demo?until=2024-02-29"),
    "sandbox:demo, awaited": lambda _: da.AsyncClient("sandbox:demo?until=2024-02-29"),
}


@pytest.fixture(autouse=True)
def _variables(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write(PROFILE)
    monkeypatch.setenv("DATAACCESS_PROFILE", "mine")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    warnings.simplefilter("ignore", da.SandboxWarning)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("profile", ["mine", "nope"])
def test_a_client_of_a_sandbox_takes_nothing_of_the_user(
    make: str, profile: str, config: Config, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for spec in SETTINGS.values():
        for variable in (spec.variable, *spec.shared):
            monkeypatch.setenv(variable, "/nowhere")
    monkeypatch.setenv("DATAACCESS_PROFILE", profile)
    client = MAKERS[make](sandbox)
    assert {one.source for one in client.settings.values()} <= {"default", "argument", "the sandbox"}
    assert (client.timezone, client.settings["profile"].value) == ("UTC", None)
    assert not (config.path.parent / "mine.jsonl").exists()


@pytest.mark.parametrize("name", ["sandbox:demo", "its address"])
def test_a_sandbox_that_the_environment_names_takes_no_profile(
    name: str, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_PROFILE", "nope")
    monkeypatch.setenv(
        "DATAACCESS_BASE_URL", f"{name}?until=2024-02-29" if name == "sandbox:demo" else f"{sandbox.base_url}/"
    )
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere.pem")
    assert len(da.search_codes(["id"], allocated_time=DAY)) == 73
    assert da.Client().is_sandbox


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_a_profile_that_an_argument_names_counts(config: Config, sandbox: da.Sandbox) -> None:
    for client in (
        da.Client("sandbox:demo?until=2024-02-29", profile="mine"),
        sandbox.client(profile="mine", concurrency=2),
    ):
        assert client.timezone == "Asia/Tokyo"
        assert client.settings["headers"].value is None
        assert client.settings["proxy"].value is None
        assert client.search_codes(["id"], allocated_time=da.on("2024-01-20"), limit=1)
    assert (config.path.parent / "mine.jsonl").exists()
    with pytest.raises(da.ConfigError, match="'nope'"):
        sandbox.client(profile="nope")


JOB = """
import os
import dataaccess as da
print(len(da.search_codes(["id"], allocated_time=da.on("2024-01-15"))), sorted(n for n in os.environ if "DATAACC" in n))
"""


def test_a_job_in_a_child_process_uses_the_sandbox(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_PROFILE", "nope")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere.pem")
    before = dict(os.environ)
    with sandbox.environment():
        assert da.Client().base_url == sandbox.base_url
        done = subprocess.run([sys.executable, "-c", JOB], capture_output=True, encoding="utf-8", check=True)
        token = os.environ["DATAACCESS_TOKEN"]
    assert done.stdout == "73 ['DATAACCESS_BASE_URL', 'DATAACCESS_TOKEN']\n"
    assert dict(os.environ) == before
    with pytest.raises(da.PermissionDeniedError):
        da.Client(sandbox.base_url, token=token).search_codes(allocated_time=da.on("2024-01-15"))


def test_a_block_in_a_block_and_an_error_restore_it(sandbox: da.Sandbox) -> None:
    before = dict(os.environ)
    with da.Sandbox() as other, suppress(KeyError), sandbox.environment():
        with other.environment(scopes=["download"]):
            os.environ["DATAACCESS_TIMEZONE"] = "Asia/Tokyo"
            with pytest.raises(da.PermissionDeniedError):
                da.search_codes(allocated_time=da.on("2024-01-15"))
        assert os.environ["DATAACCESS_BASE_URL"] == sandbox.base_url
        raise KeyError
    assert dict(os.environ) == before
