"""What the pages and docstrings show of Airflow runs: DAGs of the pages, and the examples of the provider's classes."""

from __future__ import annotations

import doctest
import importlib.util
import logging
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest
from dags import run
from scratch import EXAMPLES
from support.pages import blocks
from sybil.example import Example

import dataaccess.airflow

SHOWN = {path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.py")}
BLOCKS = [
    (name, block) for name, block in blocks() if "airflow.sdk" in block.parsed or "dataaccess.airflow" in block.parsed
]
# tests/airflow/test_examples.py runs the others.
OWN = [pytest.param(block, id=name) for name, block in BLOCKS if block.parsed not in SHOWN]
MODULES = [
    importlib.import_module(f"dataaccess.airflow.{module.name}")
    for module in pkgutil.iter_modules(dataaccess.airflow.__path__)
]
FINDER = doctest.DocTestFinder(exclude_empty=True)
DOCTESTS = [found for module in MODULES for found in FINDER.find(module, globs=dict(vars(module))) if found.examples]


def test_the_page_shows_the_examples() -> None:
    shown = {block.parsed for name, block in BLOCKS if name.startswith("docs/airflow.md")}
    assert shown == SHOWN


@pytest.mark.parametrize("block", OWN)
def test_a_block_runs_as_a_dag(
    block: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    file = tmp_path / "promotion_codes.py"
    file.write_text(block.parsed, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert set(run(module.promotion_codes()).states.values()) == {"success"}
    assert "codes were used" in "".join(capfd.readouterr())


def test_every_public_class_and_function_has_an_example() -> None:
    names = {found.name.rpartition(".")[2] for found in DOCTESTS}
    assert names >= set(dataaccess.airflow.__all__)


@pytest.mark.parametrize("example", DOCTESTS, ids=lambda example: example.name)
def test_the_example_runs(
    example: doctest.DocTest, monkeypatch: pytest.MonkeyPatch, connect: Callable[..., str]
) -> None:
    connect()
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    # Airflow's own goes to the standard output.
    monkeypatch.setattr("airflow.triggers.base.BaseTrigger.log", logging.getLogger(__name__))
    report: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert outcome.attempted
    assert outcome.failed == 0, "".join(report)
