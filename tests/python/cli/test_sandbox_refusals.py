"""`dataaccess sandbox`: files and options that it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands import RunHere

OWN = "a-token-of-thirty-two-characters-1"
ADMIN = "an-admin-token-of-thirty-two-characters"


@pytest.mark.parametrize("port", ["65536", "-1", "http", "8 0", ""])
def test_a_port_that_is_none_is_refused(run_here: RunHere, port: str) -> None:
    code, output, reported = run_here("sandbox", f"--port={port}")
    assert (code, output) == (2, "")
    assert "'--port'" in reported
    assert reported.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("--demo", "--empty"), ("--demo", "--scenario", "x.json"), ("--empty", "--replay", "x")]
)
def test_the_data_is_one_of(
    run_here: RunHere, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here("sandbox", *words)[0] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "variables", "code", "data"),
    [
        (["--host", "0.0.0.0"], {}, 2, r"--host: 0\.0\.0\.0 "),
        (["--host", "example.com"], {}, 2, r"--host .*127\.0\.0\.1 "),
        (["--allow-remote"], {}, 2, "--allow-remote: .* admin_token"),
        (["--allow-remote"], {"TOKEN": OWN}, 2, "--allow-remote: .* admin_token"),
        (["--allow-remote"], {"TOKEN": "t" * 31, "ADMIN_TOKEN": ADMIN}, 78, "token: .* 32 "),
        (["--allow-remote"], {"TOKEN": OWN, "ADMIN_TOKEN": OWN}, 78, "admin.token.* token"),
        (["--demo", "--scenario", "a.toml"], {}, 2, "--demo .*--scenario"),
        (["--until", "2024-02-29", "--empty"], {}, 2, "--until, --empty"),
        (["--scenario", "a.toml", "--switch", "latency=1"], {}, 2, "--scenario .* platform .* switches"),
        (["--scenario", "/nowhere/a.toml"], {}, 2, r"/nowhere/a\.toml "),
        (["--scopes", "itme"], {}, 2, "^dataaccess: --scopes: .*`itme`.* item, download\n"),
        (["--switch", "latnecy=1"], {}, 2, "^dataaccess: --switch: .*`latnecy`.* latency\\?\n"),
        (["--switch", "maximum_rows=[1]"], {}, 2, r"--switch: maximum_rows: \[1\] "),
        (["--switch", "latency"], {}, 2, "'--switch': 'latency' .*NAME=VALUE"),
        (["--platform", "/nowhere/platform.json"], {}, 2, r"--platform: /nowhere/platform\.json "),
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
