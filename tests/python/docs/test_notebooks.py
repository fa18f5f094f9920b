"""Every notebook in `examples/notebooks` runs from its first cell to its last, and is stored with these outputs."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from support import notebooks
from support.notebooks import NOTEBOOKS

# The pictures of each.
PICTURES = {"first_look": 0, "promotion_funnel": 3, "quarter_extract": 1}
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@EACH
def test_a_notebook_is_stored_with_outputs_and_nothing_of_a_machine(path: Path) -> None:
    stored = notebooks.read(path)
    assert notebooks.pictures(stored) == PICTURES[path.stem]
    silent = [cell for cell in stored.cells if cell.cell_type == "code" and not cell.outputs and len(cell.source) > 200]
    assert silent == []
    content = path.read_text(encoding="utf-8")
    assert not re.search(r'"execution_count": \d', content)
    assert not re.search(r"ipykernel|/tmp/|/home/|site-packages", content)


@pytest.mark.slow
@pytest.mark.timeout(240)  # a kernel imports pandas, polars and matplotlib anew
@EACH
def test_a_notebook_runs_and_shows_what_is_stored(path: Path) -> None:
    ran = notebooks.run(path)
    assert notebooks.errors(ran) == []
    ran = notebooks.without_errors(ran)
    assert notebooks.pictures(ran) == PICTURES[path.stem]
    # Earlier versions of pandas show its types by other names.
    if int(pd.__version__.partition(".")[0]) >= 3:
        assert notebooks.shown(ran) == notebooks.shown(notebooks.read(path))
