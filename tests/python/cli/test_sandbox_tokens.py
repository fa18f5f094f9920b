"""`dataaccess sandbox`: its token, and the scopes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands import RunHere, serving

import dataaccess as da

OWN = "my-own-token-0123456789"


def test_the_token_has_the_scopes_asked_for_and_no_others() -> None:
    with serving("--scopes", "download") as served:
        assert served.client().download_segment(5637051)["code"] == 200
        with pytest.raises(da.PermissionDeniedError):
            served.client().search_codes(allocated_time=da.on("2024-01-15"))


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    file = tmp_path / "token"
    file.write_text(f"{OWN}\n", encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def test_a_token_of_the_caller_outlives_a_restart_and_comes_by_file_or_environment(token_file: str) -> None:
    for words, environment in (
        (["--token-file", token_file], {}),
        ([], {"DATAACCESS_SANDBOX_TOKEN": OWN}),
        (["--token-file", token_file], {"DATAACCESS_SANDBOX_TOKEN": "the-file-wins-over-this"}),
    ):
        with serving("--empty", *words, **environment) as served:
            assert served.exports["DATAACCESS_TOKEN"] == OWN
            assert served.client().search_codes(allocated_time=da.after("2000-01-01")) == []
            _, reported = served.stop()
            assert OWN not in reported


@pytest.mark.parametrize("option", ["--token", "--tok", "--secret", "--password", "--header"])
def test_no_option_takes_a_secret_which_every_user_of_the_machine_could_read(run_here: RunHere, option: str) -> None:
    assert run_here("sandbox", option, OWN)[0] == 2
    assert run_here("sandbox", f"{option}={OWN}")[0] == 2


def test_a_token_of_the_environment_has_every_scope(run_here: RunHere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_SANDBOX_TOKEN", OWN)
    code, output, reported = run_here("sandbox", "--scopes", "item")
    assert (code, output) == (78, "")
    assert "--scopes" in reported
    assert "DATAACCESS_SANDBOX_TOKEN" in reported
    assert OWN not in reported
    monkeypatch.setenv("DATAACCESS_SANDBOX_TOKEN", "short")
    code, output, reported = run_here("sandbox")
    assert (code, output) == (78, "")
    assert re.search(r"\btoken: .* 16 ", reported)
