"""A file with the suffix .tsv has tabs between its fields, whichever call or command writes it; .csv has commas.

Source: a trial of notebooks.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import run

import dataaccess as da


@pytest.mark.parametrize(("name", "separator"), [("x.tsv", "\t"), ("X.TSV", "\t"), ("x.csv", ",")])
def test_the_suffix_decides(name: str, separator: str, sandbox: da.Sandbox, tmp_path: Path) -> None:
    one, other = tmp_path / name, tmp_path / f"command-{name}"
    sandbox.client().scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15")).to_csv(one)
    assert {line.count(separator) for line in one.read_text().splitlines()} == {1}
    with sandbox.environment():
        options = ["--attrs", "id,pool_id", "--on", "2024-01-15", "--format", "csv", "-o", str(other)]
        assert run("codes", *options).returncode == 0
    assert other.read_bytes() == one.read_bytes()
