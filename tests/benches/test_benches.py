"""Each Python bench runs once with tiny counts and checks its results. `cargo bench` runs the bench of the decoder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHES = ROOT / "benches"
sys.path.append(str(BENCHES))


def run(script: str, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, str(BENCHES / script), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=280, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_client_is_compared_and_the_page_is_written(tmp_path: Path) -> None:
    printed = run("client.py", "--smoke", "--out", str(tmp_path))
    for task in ("frames, pandas, TLS and gzip", "dicts, dicts", "calls, 16 awaited at once", "start, first record"):
        assert f"{task}: dataaccess " in printed
    page = tmp_path / "performance.md"
    page.write_text((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"), encoding="utf-8")
    run("page.py", "--figures", str(tmp_path), "--page", str(page))
    found = page.read_text(encoding="utf-8")
    assert found.count("\n| urllib3+msgspec | ") == 3
    assert found.endswith((ROOT / "docs" / "performance.md").read_text(encoding="utf-8").partition("<!-- end")[2])


def test_a_wrong_result_ends_a_bench() -> None:
    import client
    import pandas as pd

    with pytest.raises(SystemExit, match="slow: a wrong result"):
        client.race({"right": lambda: 1, "slow": lambda: 2}, lambda found: found == 1, 1, 1e3)
    row = dict.fromkeys(client.SCHEMA.names)
    one, other = (client.table_of(pd.DataFrame([{**row, "id": value, "pool_id": 1}])) for value in "ab")
    assert one.equals(one)
    assert not one.equals(other)


def accepted(native: float) -> dict[str, Any]:
    import instructions

    figures = {"post": {instructions.NATIVE: native, instructions.USER: native}}
    return {"reason": "a test", "setting": instructions.setting(), "figures": figures}


@pytest.mark.parametrize(("native", "is_worse"), [(50.0, False), (101.9, False), (102.1, True)])
def test_a_growth_of_more_than_two_percent_is_worse(native: float, *, is_worse: bool) -> None:
    import instructions

    assert bool(instructions.worse(accepted(native)["figures"], accepted(100.0))) is is_worse
    kept = json.loads(instructions.ACCEPTED.read_text(encoding="utf-8"))
    assert tuple(kept["figures"]) == instructions.JOBS


@pytest.mark.timeout(300)  # Callgrind runs the interpreter twice, at a fiftieth of its speed.
@pytest.mark.skipif(not shutil.which("valgrind"), reason="Callgrind is part of valgrind")
def test_the_check_of_instructions_fails(tmp_path: Path) -> None:
    limit = tmp_path / "instructions.json"
    limit.write_text(json.dumps(accepted(1000.0)), encoding="utf-8")
    command = ("instructions.py", "--smoke", "--check", "--only", "post", "--accepted", str(limit))
    assert "% more than 1,000\n" in run(*command, code=1)
