"""A file with the suffix .tsv has tabs between its fields, whichever call or command writes it; .csv has commas.

Source: a trial of notebooks
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import run

import dataaccess as da

DAY = "2024-01-15"


@pytest.mark.parametrize(("name", "separator"), [("x.tsv", "\t"), ("X.TSV", "\t"), ("x.csv", ",")])
def test_the_suffix_decides(name: str, separator: str, sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = sandbox.client().scan_codes(["id", "pool_id"], allocated_time=da.on(DAY))
    scan.to_csv(tmp_path / name)
    lines = (tmp_path / name).read_text().splitlines()
    assert lines[0] == f"id{separator}pool_id"
    assert {line.count(separator) for line in lines} == {1}
    with sandbox.environment():
        options = ["--attrs", "id,pool_id", "--on", DAY, "--format", "csv", "-o", f"{tmp_path / f'command-{name}'}"]
        assert run("codes", *options).returncode == 0
    assert (tmp_path / f"command-{name}").read_bytes() == (tmp_path / name).read_bytes()
