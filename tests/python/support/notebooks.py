"""The notebooks of the examples: runs them, and stores their outputs. It is a script.

Stored outputs have no line of a machine: no standard error, no numbers of executions.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[3] / "examples" / "notebooks").glob("*.ipynb"))
# The tag of cells whose numbers follow from how fast the machine is.
VARIES = "figures-vary"
_FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
# Times; the sizes of responses, which have a date; that of a request, and the port of a sandbox.
_FIGURE = re.compile(r"\d[\d.,]*(?= (?:s|ms|min|B|kB|MB)\b)|(?<=requested )[\d-]+|(?<=127\.0\.0\.1:)\d+")
_NUMBER = re.compile(r"\d[\d.,]*")

_read: Any = nbformat.read
_write: Any = nbformat.write


def read(path: Path) -> Any:
    return _read(path, as_version=4)


def run(path: Path) -> Any:
    """The notebook with the outputs of a run, in a folder of its own."""
    notebook = read(path)
    with TemporaryDirectory() as folder:
        # A bar of a slow machine is no error.
        own = {"TQDM_DISABLE": "1", **{name: str(Path(folder) / name) for name in _FOLDERS}}
        environment = {**os.environ, **own}
        # A slow kernel sends what one cell prints in pieces.
        resources = {"metadata": {"path": folder}}
        runner = NotebookClient(notebook, timeout=200, resources=resources, coalesce_streams=True)
        runner.execute(env=environment)
    for cell in _code(notebook):
        cell.execution_count = None
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = None
    notebook.metadata.pop("language_info", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def errors(notebook: Any) -> list[str]:
    """What cells wrote to standard error, but that the data is synthetic."""
    texts = [output.text for cell in _code(notebook) for output in cell.outputs if output.get("name") == "stderr"]
    return [text for text in texts if "SandboxWarning" not in text]


def without_errors(notebook: Any) -> Any:
    """The notebook as it is stored: standard error has paths of a machine."""
    for cell in _code(notebook):
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def shown(notebook: Any) -> dict[str, list[Any]]:
    """What can be compared of the outputs, by the id of the cell: texts without times, and that there is a picture."""
    return {cell.id: [_comparable(output, cell) for output in cell.outputs] for cell in _code(notebook)}


def pictures(notebook: Any) -> int:
    return sum("image/png" in output.get("data", {}) for cell in _code(notebook) for output in cell.outputs)


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _comparable(output: Any, cell: Any) -> Any:
    if output.output_type == "stream":
        return _without_figures(output.text, cell)
    data = output.get("data", {})
    if "image/png" in data:
        # Its text has the address of an object.
        return "picture"
    return {kind: _without_figures(text, cell) for kind, text in data.items() if isinstance(text, str)}


def _without_figures(text: str, cell: Any) -> str:
    pattern = _NUMBER if VARIES in cell.metadata.get("tags", []) else _FIGURE
    return pattern.sub("#", text)


def store() -> None:
    for path in NOTEBOOKS:
        _write(without_errors(run(path)), path)
        print(f"{path.name}: {pictures(read(path))} pictures")


if __name__ == "__main__":
    store()
