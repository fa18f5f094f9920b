"""Every Python block of the README runs as it stands, each in a namespace of its own."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sybil.document import Document
from sybil.example import Example
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_plugins = ["pytester"]

README = Path(__file__).parents[3] / "README.md"

# Airflow runs in a process of its own: it reads its settings at import and keeps a database.
RUN_DAG = """
import runpy, sys
run = runpy.run_path(sys.argv[1])["promotion_codes"]().test()
sys.exit(0 if run.state == "success" else f"the run ended as {run.state}")
"""


# What a block is, by the first of these texts that it has.
KINDS = {"airflow.sdk": "dag", "\ndef test_": "tests"}


def blocks(kind: str) -> list[Any]:
    """Return the README's Python blocks that are an Airflow DAG, tests for pytest, or a plain script."""
    document = Document.parse(str(README), PythonCodeBlockParser())
    found = [
        pytest.param(block, id=f"line-{block.line}")
        for block in document.examples()
        if next((name for text, name in KINDS.items() if text in block.parsed), "script") == kind
    ]
    assert found
    return found


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("block", blocks("script"))
def test_block_runs(block: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATAACCESS_TOKEN", raising=False)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")
    block.namespace.clear()
    level = logging.getLogger("dataaccess").level

    try:
        block.evaluate()
    finally:
        logging.getLogger("dataaccess").setLevel(level)


@pytest.mark.parametrize("block", blocks("tests"))
def test_block_of_tests_passes(block: Example, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider\n")
    pytester.makepyfile(block.parsed)

    outcomes = pytester.runpytest_subprocess(timeout=50).parseoutcomes()

    assert outcomes == {"passed": block.parsed.count("\ndef test_")}


@pytest.mark.airflow
@pytest.mark.timeout(180)
@pytest.mark.skipif(sys.platform == "win32", reason="Airflow does not run on Windows")
@pytest.mark.parametrize("block", blocks("dag"))
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
