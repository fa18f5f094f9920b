"""A file or an option of ids: a line ends with a line feed only, and only ASCII blanks are no part of an id.

Source: the line ends of `str.splitlines` in the documentation of Python.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import run

import dataaccess as da

IDS = [f"a{each}b" for each in "\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e\r"] + [f"{each}c{each}" for each in "\xa0\u3000"]
ITEMS = ["items", "customer", "--attrs", "customer_id", "--matches"]
COLUMNS = ("customer_id", "allocated_audience")
CODES = ["codes", "--on", "2024-01-15", "--audience-type", "customer", "--audience"]


def requested(sandbox: da.Sandbox, *options: str) -> list[Any]:
    with sandbox.environment():
        done = run(*options, "--explain", "--json")
    assert done.returncode == 0, done.stderr
    conditions = json.loads(done.stdout)["filters"]["OR"][0]["AND"]
    values: list[Any] = next(each["value"] for each in conditions if each["column"] in COLUMNS)
    return values


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_of_ids(end: str, sandbox: da.Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    file.write_bytes(f" \t{end}".join([*IDS, "", "  d\t"]).encode())
    assert requested(sandbox, *ITEMS, f"customer_id=@{file}") == [*IDS, "d"]
    assert requested(sandbox, *CODES, f"@{file}") == [*IDS, "d"]


def test_an_option_of_ids(sandbox: da.Sandbox) -> None:
    assert requested(sandbox, *ITEMS, f"customer_id={' , '.join(IDS)},\td ") == [*IDS, "d"]
