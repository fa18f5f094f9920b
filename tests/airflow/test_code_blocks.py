"""The Airflow DAGs of the pages run, each in a process of its own: Airflow reads its settings at import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import blocks
from sybil.example import Example

RUN_DAG = """
import runpy, sys
run = runpy.run_path(sys.argv[1])["promotion_codes"]().test()
sys.exit(0 if run.state == "success" else f"the run ended as {run.state}")
"""

BLOCKS = [pytest.param(block, id=name) for name, block in blocks() if "airflow.sdk" in block.parsed]


def test_the_pages_have_dags() -> None:
    assert BLOCKS


@pytest.mark.timeout(180)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs_as_a_dag(block: Example, tmp_path: Path) -> None:
    dags = tmp_path / "dags"
    dags.mkdir()
    dag_file = dags / "promotion_codes.py"
    dag_file.write_text(block.parsed, encoding="utf-8")
    environment = os.environ | {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "DATAACCESS_BASE_URL": "sandbox:demo",
    }

    def run(*command: str) -> str:
        done = subprocess.run(  # noqa: S603 - our own block
            [sys.executable, *command],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    run("-m", "airflow", "db", "migrate")
    output = run("-c", RUN_DAG, str(dag_file))

    assert "codes were used" in output
