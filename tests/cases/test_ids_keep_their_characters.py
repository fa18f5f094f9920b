"""A file or an option of ids: a line ends with a line feed only, and only ASCII blanks are no part of an id.

Source: a trial of nightly jobs; the line ends of `str.splitlines` in the documentation of Python
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import run

import dataaccess as da

IDS = [
    *(f"a{character}b" for character in "\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e\r"),
    *(f"{blank}c{blank}" for blank in "\xa0\u3000\u2007"),
]


def requested(sandbox: da.Sandbox, options: list[str]) -> list[Any]:
    with sandbox.environment():
        done = run(*options, "--explain", "--json")
    assert done.returncode == 0, done.stderr
    (condition,) = [
        each
        for each in json.loads(done.stdout)["filters"]["OR"][0]["AND"]
        if each["column"] in ("customer_id", "allocated_audience")
    ]
    value: list[Any] = condition["value"]
    return value


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_of_ids(end: str, sandbox: da.Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    file.write_bytes(f" \t{end}".join([*IDS, "", "  d\t"]).encode())
    of_items = ["items", "customer", "--attrs", "customer_id", "--matches", f"customer_id=@{file}"]
    assert requested(sandbox, of_items) == [*IDS, "d"]
    of_codes = ["codes", "--on", "2024-01-15", "--audience-type", "customer", "--audience", f"@{file}"]
    assert requested(sandbox, of_codes) == [*IDS, "d"]


def test_an_option_of_ids(sandbox: da.Sandbox) -> None:
    texts = " , ".join(IDS)
    options = ["items", "customer", "--attrs", "customer_id", "--matches", f"customer_id={texts},\td "]
    assert requested(sandbox, options) == [*IDS, "d"]
