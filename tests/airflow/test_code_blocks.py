"""The pages show DAGs that tests run, and the examples of the provider's classes run."""

from __future__ import annotations

import doctest
import importlib
import logging
import pkgutil
from collections.abc import Callable

import pytest
from scratch import EXAMPLES
from support.pages import blocks

import dataaccess.airflow

SHOWN = {path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.py")}
BLOCKS = {
    block.parsed for _, block in blocks() if "airflow.sdk" in block.parsed or "dataaccess.airflow" in block.parsed
}
MODULES = [
    importlib.import_module(f"dataaccess.airflow.{module.name}")
    for module in pkgutil.iter_modules(dataaccess.airflow.__path__)
]
FINDER = doctest.DocTestFinder(exclude_empty=True)
DOCTESTS = [found for module in MODULES for found in FINDER.find(module, globs=dict(vars(module))) if found.examples]


def test_the_pages_show_the_examples() -> None:
    """`test_examples.py` runs them."""
    assert BLOCKS == SHOWN


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
