"""The Spark blocks of the pages run in the session of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyspark
import pytest
from support.pages import ROOT, blocks
from sybil.example import Example

# Programs with arguments, which other tests run.
EXAMPLES = [path.read_text(encoding="utf-8").strip() for path in (ROOT / "examples" / "recipes").glob("*.py")]
# What a block may use that Spark 4.0 does not have.
SINCE_4_1 = ("python_worker_logs",)
BLOCKS = [
    pytest.param(block, id=name)
    for name, block in blocks()
    if "pyspark" in block.parsed and block.parsed.strip() not in EXAMPLES
]


def test_the_pages_have_blocks() -> None:
    assert BLOCKS


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    if any(name in block.parsed for name in SINCE_4_1) and pyspark.__version__.startswith("4.0."):
        pytest.skip("the block says that it needs Spark 4.1")
    monkeypatch.chdir(tmp_path)
    block.namespace.clear()
    block.evaluate()
    assert "Traceback" not in capsys.readouterr().err
