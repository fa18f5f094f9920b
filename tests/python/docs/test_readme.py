"""Every Python block of the README runs as it stands, each in a namespace of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sybil.document import Document
from sybil.example import Example
from sybil.parsers.markdown import PythonCodeBlockParser

README = Path(__file__).parents[3] / "README.md"

# Airflow runs in a process of its own: it reads its settings at import and keeps a database.
RUN_DAG = """
import runpy, sys
run = runpy.run_path(sys.argv[1])["promotion_codes"]().test()
sys.exit(0 if run.state == "success" else f"the run ended as {run.state}")
"""


def blocks(*, airflow: bool) -> list[Example]:
    """Return the README's Python blocks that are, or are not, an Airflow DAG."""
    document = Document.parse(str(README), PythonCodeBlockParser())
    return [block for block in document.examples() if ("airflow.sdk" in block.parsed) is airflow]


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("block", blocks(airflow=False), ids=lambda block: f"line-{block.line}")
def test_block_runs(block: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATAACCESS_TOKEN", raising=False)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")
    block.namespace.clear()

    block.evaluate()


@pytest.mark.airflow
@pytest.mark.timeout(180)
@pytest.mark.skipif(sys.platform == "win32", reason="Airflow does not run on Windows")
@pytest.mark.parametrize("block", blocks(airflow=True), ids=lambda block: f"line-{block.line}")
def test_airflow_block_runs_as_a_dag(block: Example, tmp_path: Path) -> None:
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
