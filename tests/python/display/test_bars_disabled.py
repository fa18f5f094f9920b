"""Bars that cannot be drawn: the call goes on without them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import dataaccess as da
from dataaccess._core import bar

CALL = """
import sys
import dataaccess as da
from dataaccess._core import bar
bar._PAUSE = 0
{setup}
days = da.days("2024-01-01", "2024-01-08")
rows = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=days).to_dicts(progress=True)
sys.stdout.write(str(len(rows)))
"""


@pytest.mark.parametrize(
    ("setup", "variables"),
    [
        ("", {"TQDM_DISABLE": "1"}),
        ("sys.stderr = None", {}),
        ("sys.stderr.close()", {}),
        ("sys.modules['tqdm'] = sys.stderr = None", {}),
    ],
    ids=["TQDM_DISABLE", "no stderr", "closed stderr", "neither tqdm nor stderr"],
)
def test_a_call_goes_on_without_a_bar(setup: str, variables: dict[str, str]) -> None:
    import os

    code = CALL.format(setup=setup)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "488", "")


@pytest.mark.both_clients
def test_a_bar_that_fails_is_given_up(connect: Any, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    class Failing:
        disable, start_t, total, n = False, 0.0, None, 0

        def __init__(self, **_arguments: object) -> None:
            drawn.append(self)

        def set_postfix_str(self, *_arguments: object, **_keywords: object) -> None:
            raise OSError("the console has gone")

    monkeypatch.setattr(bar, "_tqdm", lambda: Failing)
    monkeypatch.setattr(bar, "_PAUSE", 0.0)
    rows = (
        connect(sandbox).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-08")).to_dicts(progress=True)
    )
    assert len(rows) == 488
    assert len(drawn) == 1
