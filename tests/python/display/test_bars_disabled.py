"""Bars that cannot be drawn: the call goes on without them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CALL = """
import sys
import dataaccess as da
{setup}
days = da.days("2024-01-01", "2024-01-08")
rows = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=days).to_dicts(progress=True)
sys.stdout.write(str(len(rows)))
"""
BROKEN = """
from types import SimpleNamespace
def write(_text):
    raise ValueError("the console has gone")
sys.stderr = SimpleNamespace(write=write, flush=bool)
"""


@pytest.mark.parametrize(
    ("setup", "variables"),
    [
        ("", {"TQDM_DISABLE": "1"}),
        ("sys.stderr = None", {}),
        ("sys.stderr.close()", {}),
        (BROKEN, {}),
    ],
    ids=["TQDM_DISABLE", "no stderr", "closed stderr", "broken stderr"],
)
def test_a_call_goes_on_without_a_bar(setup: str, variables: dict[str, str]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", CALL.format(setup=setup)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "488", "")
