"""The benches run and check what they time; how fast they are is not looked at here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHES = Path(__file__).parents[3] / "benches"


def test_the_bench_of_the_embedded_service_works(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own bench
        [sys.executable, str(BENCHES / "sandbox.py"), "--smoke", "--out", str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    measures = {each["name"]: each for each in json.loads((tmp_path / "sandbox.json").read_text())["measures"]}
    for name in ("one customer: searches", "codes of a member: searches", "2,000 rows: rows"):
        assert measures[name]["value"] > 0
        assert measures[name]["unit"] == "1/s"
        assert name in done.stdout
