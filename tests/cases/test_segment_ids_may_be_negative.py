"""`dataaccess segment -5` asks for export -5: the argument is no option.

Source: API specification 4.3: `exportId` is a number.
"""

from __future__ import annotations

import json

import pytest
from support.commands import run

import dataaccess as da


@pytest.mark.parametrize("words", [["-5"], ["-5", "--timeout", "9"], ["--timeout", "9", "-5"], ["--", "-5"]])
def test_an_id_below_zero(words: list[str]) -> None:
    with da.Sandbox() as sandbox, sandbox.environment():
        sandbox.start_export(export_id=-5, entries=2)
        done = run("segment", "--json", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["meta"]["total"] == 2
