"""Paths on this machine: `~` is the home folder, and a change of the current folder changes none."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support.commands import run_here
from support.profiles import Config

import dataaccess as da

__all__ = ["run_here"]

DAY = da.on("2024-01-15")


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
    client = da.Client(sandbox.base_url, token=da.token_file("~/token"), record="~/exchanges.jsonl")
    rows = client.search_codes(["id"], allocated_time=DAY)
    assert rows
    client.close()
    with da.Sandbox.replay("~/exchanges.jsonl") as replayed:
        assert replayed.client().search_codes(["id"], allocated_time=DAY) == rows
    code, printed, reported = run_here(
        "codes", "--on", "2024-01-15", "--attrs", "id", "--json", "--token-file=~/token", "--base-url", sandbox.base_url
    )
    assert (code, len(printed.splitlines())) == (0, len(rows)), reported
    with pytest.raises(da.ConfigError, match=str(home / "ca.pem").replace("\\", ".")):
        da.Client("https://cdp.example.com", token="t", ca_bundle="~/ca.pem")
    assert list(Path().iterdir()) == []


def test_a_home_folder_in_a_profile_counts_too(home: Path, config: Config, sandbox: da.Sandbox) -> None:
    (home / "token").write_text(sandbox.issue_token())
    (home / "token").chmod(0o600)
    config.write(f'[profiles.p]\nbase_url = "{sandbox.base_url}"\ntoken_file = "~/token"\n')
    assert da.Client(profile="p").search_codes(["id"], allocated_time=DAY, limit=1)


def test_a_relative_path_is_that_of_the_call(home: Path, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("token").write_text(sandbox.issue_token())
    Path("token").chmod(0o600)
    token = da.token_file("token")
    client = da.Client(sandbox.base_url, token=token)
    data, of_client = pickle.dumps(token), pickle.dumps(client)
    monkeypatch.chdir(home)
    assert token() == pickle.loads(data)()
    for one in (client, pickle.loads(of_client)):
        assert one.search_codes(["id"], allocated_time=DAY, limit=1)
    assert token.path.is_absolute()


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_a_record_travels_as_an_absolute_path(home: Path, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
    data = pickle.dumps(da.Client(sandbox.base_url, record="exchanges.jsonl"))
    recorded = Path("exchanges.jsonl").absolute()
    monkeypatch.chdir(home)
    assert pickle.loads(data).settings["record"].value == str(recorded)
    assert list(home.iterdir()) == []
