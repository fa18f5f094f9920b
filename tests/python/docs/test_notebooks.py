"""Every notebook in `examples/notebooks` runs from its first cell to its last, and is kept without outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from support.pages import ROOT

read: Any = nbformat.read
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
# The pictures of each.
PICTURES = {"first_look": 0, "promotion_funnel": 3, "quarter_extract": 1}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert [cell for cell in cells if cell.outputs or cell.execution_count is not None] == []


@pytest.mark.slow
@pytest.mark.timeout(240)  # a kernel imports pandas, polars and matplotlib anew
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    # A bar of a slow machine is no error.
    monkeypatch.setenv("TQDM_DISABLE", "1")
    notebook = read(path, as_version=4)

    NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}}).execute()

    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    errors = [
        output.text for output in outputs if output.get("name") == "stderr" and "SandboxWarning" not in output.text
    ]
    assert errors == []
    assert sum("image/png" in output.get("data", {}) for output in outputs) == PICTURES[path.stem]
