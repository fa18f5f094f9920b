"""Every Python block of every page runs as it is shown, each in a namespace of its own, and prints what is shown."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.objects import Store, moto_server
from support.pages import README, ROOT, blocks, output
from sybil.example import Example

pytest_plugins = ["pytester"]

# The kind of a block, by the first of these strings that it contains.
KINDS = {
    "airflow.sdk": "airflow",
    "dataaccess.airflow": "airflow",
    "pyspark": "spark",
    "import dlt": "recipe",
    "import psycopg": "recipe",
    "dask.distributed": "recipe",
    "\ndef test_": "tests",
    '"s3://warehouse/': "store",
}


# `tests/airflow`, `tests/spark` and `tests/recipes` run those of the other kinds.
def blocks_of(kind: str) -> list[Any]:
    """Return the blocks that are tests for pytest, need a bucket, or are plain scripts; the others run elsewhere."""
    found = [
        pytest.param(block, id=name)
        for name, block in blocks()
        if next((kind for text, kind in KINDS.items() if text in block.parsed), "script") == kind
    ]
    assert found
    return found


def test_all_pages_are_read() -> None:
    pages = {name.partition(":")[0] for name, _ in blocks()}
    assert pages >= {str(README.relative_to(ROOT)), "docs/scans.md", "docs/errors.md", "docs/service.md"}


def test_the_readme_shows_an_output() -> None:
    assert any(output(block) for name, block in blocks() if name.startswith("README.md"))


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning", "ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("block", blocks_of("script"))
def test_block_runs(
    block: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "matplotlib" in block.parsed:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATAACCESS_TOKEN", raising=False)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    block.namespace.clear()
    level, umask = logging.getLogger("dataaccess").level, os.umask(0o022)

    try:
        block.evaluate()
    finally:
        logging.getLogger("dataaccess").setLevel(level)
        os.umask(umask)
    if (shown := output(block)) is not None:
        assert capsys.readouterr().out == shown


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Store]:
    """The bucket of the pages."""
    with moto_server() as port:
        store = Store(port, port, "warehouse")
        store.make()
        yield store


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning", "ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("block", blocks_of("store"))
def test_block_with_a_bucket_runs(block: Example, warehouse: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    for name, value in warehouse.environment.items():
        monkeypatch.setenv(name, value)
    block.namespace.clear()

    block.evaluate()

    assert warehouse.names()


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks_of("tests"))
def test_block_of_tests_passes(block: Example, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:cacheprovider\n")
    pytester.makepyfile(block.parsed)

    # This plugin takes longer than the tests.
    outcomes = pytester.runpytest_subprocess("-p", "no:schemathesis", timeout=50).parseoutcomes()

    assert outcomes == {"passed": block.parsed.count("\ndef test_")}
