"""A DataFrame without its packages: the error names the packages that are missing, and the index has no other of ours.

Source: a trial as a new user.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, sys
sys.modules[{missing!r}] = None
import dataaccess as da
for kind in (da.Client, da.AsyncClient):
    scan = kind("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    try:
        asyncio.run(scan.{use}())
    except ImportError as error:
        print(error)
    assert scan.last_stats is None, "a request was sent for a form that cannot be made"
"""


@pytest.mark.parametrize(
    ("use", "missing", "command"),
    [
        ("to_pandas", "pandas", "pip install pandas pyarrow"),
        ("to_pandas", "pyarrow", "pip install pyarrow"),
        ("to_polars", "polars", "pip install polars"),
        ("to_arrow", "pyarrow", "pip install pyarrow"),
    ],
)
def test_it_names_the_package(use: str, missing: str, command: str) -> None:
    words = [sys.executable, "-W", "ignore", "-c", PROGRAM.format(use=use, missing=missing)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(shown) == 2
    assert all(line.startswith(f"{missing} ") and line.endswith(f": {command}") for line in shown)
