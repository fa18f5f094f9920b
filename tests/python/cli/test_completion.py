"""Completion, by click: through the protocol of its scripts, and in bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sta", ["plain,status"]),
        ("codes --sta", ["plain,--status"]),
        ("codes -o ja", ["file,ja"]),
        ("codes --format c", ["plain,csv"]),
        ("codes --on ", []),
    ],
)
def test_names_files_and_formats_are_offered(
    run: Any, monkeypatch: pytest.MonkeyPatch, line: str, expected: list[str]
) -> None:
    monkeypatch.setenv("_DATAACCESS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"dataaccess {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" "))))
    # Without any there is an empty line.
    assert [one for one in run().output.splitlines() if one] == expected


@pytest.mark.parametrize("line", ["sandbox --replay ", "codes --attrs "])
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
    assert "dataaccess.cli.parts" in imported
    assert not imported & {"dataaccess._native", "dataaccess.sandbox", "asyncio", "pandas"}


@pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="needs bash and a pseudo-terminal")
def test_bash_completes(tmp_path: Path) -> None:
    """As a person does: the line of docs/command-line.md is evaluated, and TAB pressed, in an interactive bash."""
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
            os.write(own, b'eval "$(_DATAACCESS_COMPLETE=bash_source dataaccess)"; echo "rea"dy\n')
            read_until(own, b"ready")
            for typed, completed in [
                (b"dataaccess codes --token-file janu", b"january-ids.txt"),
                (b"dataaccess codes --requ", b"--requested-at"),
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
