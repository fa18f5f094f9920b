"""Every Python block of the README runs as it stands, each in a namespace of its own."""

import logging
from pathlib import Path
from typing import Any

import pytest
from sybil.document import Document
from sybil.example import Example
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_plugins = ["pytester"]

README = Path(__file__).parents[3] / "README.md"

# What a block is, by the first of these texts that it has.
KINDS = {"airflow.sdk": "dag", "\ndef test_": "tests"}


def blocks(kind: str) -> list[Any]:
    """Return the README's Python blocks that are tests for pytest or a plain script; tests/airflow runs the DAGs."""
    document = Document.parse(str(README), PythonCodeBlockParser())
    found = [
        pytest.param(block, id=f"line-{block.line}")
        for block in document.examples()
        if next((name for text, name in KINDS.items() if text in block.parsed), "script") == kind
    ]
    assert found
    return found


@pytest.mark.usefixtures("short_pauses")
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


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("tests"))
def test_block_of_tests_passes(block: Example, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider\n")
    pytester.makepyfile(block.parsed)

    # This plugin takes longer than the tests.
    outcomes = pytester.runpytest_subprocess("-p", "no:schemathesis", timeout=50).parseoutcomes()

    assert outcomes == {"passed": block.parsed.count("\ndef test_")}
