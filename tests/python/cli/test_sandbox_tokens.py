"""`dataaccess sandbox`: its token and the scopes of it, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands import RunHere, serving

import dataaccess as da

OWN = "a-token-of-thirty-two-characters-1"
ADMIN = "an-admin-token-of-thirty-two-characters"


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


@pytest.mark.parametrize(
    ("words", "variables", "code", "data"),
    [
        (["--host", "example.com"], {}, 2, r"--host .*127\.0\.0\.1 "),
        (["--allow-remote"], {}, 2, "--allow-remote: .* admin_token"),
        (["--allow-remote"], {"TOKEN": OWN}, 2, "--allow-remote: .* admin_token"),
        (["--allow-remote"], {"TOKEN": "t" * 31, "ADMIN_TOKEN": ADMIN}, 78, "token: .* 32 "),
        (["--allow-remote"], {"TOKEN": OWN, "ADMIN_TOKEN": OWN}, 78, "admin.token.* token"),
        (["--until", "2024-02-29", "--empty"], {}, 2, "--until, --empty"),
        (["--scenario", "a.toml", "--switch", "latency=1"], {}, 2, "--scenario .* platform .* switches"),
        (["--replay", "/nowhere/exchanges", "--platform", "all-utc"], {}, 2, "--replay .*--port, --json .*--quiet"),
        (["--token-file", "/nowhere/token"], {}, 2, "'--token-file': .* /nowhere/… "),
        (["--replay", "/nowhere/exchanges"], {}, 69, "`/nowhere/exchanges` "),
        (["--token-file", __file__, "--scopes", "item"], {}, 2, "--scopes .*--token-file"),
    ],
    ids=str,
)
def test_what_cannot_be_is_reported(
    run_here: RunHere,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variables: dict[str, str],
    code: int,
    data: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"DATAACCESS_SANDBOX_{name}", value)
    found, output, printed = run_here("sandbox", *words)
    assert (found, output) == (code, "")
    assert re.search(data, printed), printed
    assert printed.count("\n") == 1
    assert OWN not in printed
