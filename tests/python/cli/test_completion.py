"""Completion: what each option and argument offers, through the protocol of click's scripts, and in bash."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE
from support.open_points import TABLE


@pytest.fixture
def complete(run: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The type and value of each completion of the last word."""

    def complete(line: str) -> list[str]:
        monkeypatch.setenv("_DATAACCESS_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        # Without any there is an empty line.
        return [one for one in run().output.splitlines() if one]

    return complete


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("codes --token-file to", ["file,to"]),
        ("scan codes -o ja", ["file,ja"]),
        ("scan codes --output ", ["file,"]),
        ("scan items customer --folder co", ["dir,co"]),
        ("codes --ca-bundle /etc", ["file,/etc"]),
        ("sandbox --replay r", ["file,r"]),
        ("sandbox --switch laten", ["plain,latency="]),
        ("sandbox --platform ", ["plain,all-utc", "plain,local-times", "plain,other-zone-inclusive"]),
        ("sandbox --platform platform.j", ["file,platform.j"]),
        ("codes --status ", ["plain,available", "plain,sent", "plain,used"]),
        ("codes --status sent,u", ["plain,sent,used"]),
        ("codes --audience-type c", ["plain,customer"]),
        ("codes --attrs id,code", ["plain,id,code_status"]),
        ("validate codes --attrs pool", ["plain,pool_id"]),
        ("items ", ["plain,customer", "plain,promotion_code"]),
        ("scan items pro", ["plain,promotion_code"]),
        ("items promotion_code --attrs pool", ["plain,pool_id"]),
        ("items customer --attrs pool", []),
        ("scan codes --format c", ["plain,csv"]),
        ("codes --on ", []),
        ("completion z", ["plain,zsh"]),
    ],
)
def test_values_are_offered(complete: Any, line: str, expected: list[str]) -> None:
    assert complete(f"dataaccess {line}") == expected


def test_a_file_of_values_is_found(complete: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ids.txt").touch()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "ids.csv").touch()
    assert complete("dataaccess codes --audience @") == ["plain,@ids.txt", "plain,@more/"]
    assert complete("dataaccess codes --audience @more/i") == ["plain,@more/ids.csv"]
    assert complete("dataaccess items customer --filter @no/x") == []


def test_objects_of_the_profile_are_offered(complete: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    (tmp_path / "dataaccess").mkdir()
    config = tmp_path / "dataaccess" / "config.toml"
    config.write_text(
        '[profiles.default.item_types.store]\nid = 7\nattributes = { store_id = "string", opened = "timestamp" }\n'
        "[profiles.other]\nitem_types = { visit = 8 }\n",
        encoding="utf-8",
    )
    assert complete("dataaccess items st") == ["plain,store"]
    assert complete("dataaccess items store --attrs op") == ["plain,opened"]
    assert complete("dataaccess items --profile other v") == ["plain,visit"]
    assert complete("dataaccess items --profile other visit --attrs op") == []


def test_profiles_are_offered_by_their_names(complete: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    assert complete("dataaccess codes --profile ") == []
    (tmp_path / "dataaccess").mkdir()
    config = tmp_path / "dataaccess" / "config.toml"
    config.write_text('[profiles.staging]\ntimezone = "UTC"\n[profiles.default]\n', encoding="utf-8")
    assert complete("dataaccess doctor --profile s") == ["plain,staging"]
    config.write_text("[", encoding="utf-8")
    assert complete("dataaccess doctor --profile s") == []


def test_every_switch_is_offered_and_nothing_else(complete: Any) -> None:
    offered = complete("dataaccess sandbox --switch ")
    assert offered == [f"plain,{name}=" for name, takes in TABLE.items() if takes]


@pytest.mark.parametrize("line", ["sandbox --replay ", "codes --attrs ", "scan codes --profile "])
def test_the_core_is_not_imported_while_somebody_types(line: str) -> None:
    words = f"dataaccess {line}"
    typed = {"_DATAACCESS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dataaccess"],
        env={**os.environ, **typed},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {one.rpartition("|")[2].strip() for one in ended.stderr.splitlines()}
    assert "dataaccess.cli.completing" in imported
    assert not imported & {"dataaccess._native", "dataaccess.sandbox", "asyncio", "pandas"}


def test_without_a_shell_one_line_names_them(run: Any) -> None:
    ended = run("completion")
    assert (ended.code, ended.output) == (2, "")
    assert re.fullmatch(r"dataaccess: .* bash, zsh, fish .* --help\)\n", ended.reported)


@pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="needs bash and a pseudo-terminal")
def test_bash_completes(tmp_path: Path) -> None:
    """As a person does: the script is evaluated, and TAB pressed, in an interactive bash."""
    import pty

    (tmp_path / "january-ids.txt").touch()
    command = tmp_path / "bin" / "dataaccess"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {" ".join(MODULE)} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    own, other = pty.openpty()
    environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PS1": "$ ", "TERM": "dumb"}
    bash = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=other,
        stdout=other,
        stderr=other,
        cwd=tmp_path,
        env=environment,
        start_new_session=True,
    )
    os.close(other)
    with bash:
        try:
            os.write(own, b'eval "$(dataaccess completion bash)"; echo "rea"dy\n')
            read_until(own, b"ready")
            for typed, completed in [
                (b"dataaccess codes --token-file janu", b"january-ids.txt"),
                (b"dataaccess codes --audience @janu", b"@january-ids.txt"),
                (b"dataaccess items promo", b"promotion_code"),
            ]:
                os.write(own, typed + b"\t")
                read_until(own, completed)
                os.write(own, b"\x15")
        finally:
            bash.kill()
            os.close(own)


def read_until(file: int, expected: bytes) -> None:
    """Reads until the text arrives."""
    import select

    found = b""
    while expected not in found:
        assert select.select([file], [], [], 10)[0], found
        found += os.read(file, 1 << 16)
