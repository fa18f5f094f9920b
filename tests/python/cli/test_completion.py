"""Completion, by click: through the protocol of its scripts, and in bash."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest


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
    assert "dataaccess.cli.options" in imported
    assert not imported & {"dataaccess._native", "dataaccess.sandbox", "asyncio", "pandas"}
