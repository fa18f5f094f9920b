"""`dataaccess segment -5` asks for export -5: the argument is no option.

Source: API specification 4.3: `exportId` is a number.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import dataaccess as da


@pytest.mark.parametrize("words", [["-5"], ["-5", "--timeout", "9"], ["--timeout", "9", "-5"], ["--", "-5"]])
def test_an_id_below_zero(words: list[str]) -> None:
    with da.Sandbox() as sandbox:
        sandbox.start_export(export_id=-5, entries=2)
        environment = {**os.environ, "DATAACCESS_BASE_URL": sandbox.base_url, "DATAACCESS_TOKEN": sandbox.issue_token()}
        command = [sys.executable, "-m", "dataaccess", "segment", "--json", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["meta"]["total"] == 2
