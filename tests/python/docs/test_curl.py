"""The curl lines of the recipe on control run as they are shown."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.pages import ROOT

import dataaccess as da

PAGE = ROOT / "docs" / "recipes.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_lines_run(tmp_path: Path) -> None:
    (script,) = re.findall(r"^(CONTROL=.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    calls = [line for line in script.splitlines() if line.startswith("call ")]
    with da.Sandbox.demo() as sandbox:
        environment = {
            **os.environ,
            "DATAACCESS_BASE_URL": sandbox.base_url,
            "DATAACCESS_SANDBOX_ADMIN_TOKEN": sandbox.admin_token,
            "NO_PROXY": "*",
        }
        # Each answer on a line of its own.
        lines = script.replace("\ncall ", "\necho; call ")
        done = subprocess.run(
            ["/bin/sh", "-eu", "-c", lines], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert sandbox.requests == []
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert len(answers) == len(calls)
    by_line = dict(zip(calls, answers, strict=True))
    (found,) = (answer for line, answer in by_line.items() if "contains=" in line)
    assert found == {"rows": [{"store_id": "s-2", "area": None}], "total": 1}
    (exports,) = (answer for line, answer in by_line.items() if line.endswith('/exports"'))
    planned = next(each for each in exports if each["export_id"] == 17)
    assert [entry["status"] for entry in planned["entries"]] == ["succeeded", "failed"]
