"""Every file in `examples` runs; a new one is a test without being registered.

But for the nightly job, which needs arguments and prints nothing: `process/test_nightly.py` runs that.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import blocks

EXAMPLES = Path(__file__).parents[3] / "examples"
PRINT = [path for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "nightly"]


def environment() -> dict[str, str]:
    """Return this environment without the settings of a real platform."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DATAACCESS_")}


@pytest.mark.parametrize("recipe", sorted(EXAMPLES.glob("recipes/*.py")), ids=lambda path: path.stem)
def test_a_recipe_is_on_a_page(recipe: Path) -> None:
    shown = [block.parsed for _, block in blocks()]
    assert recipe.read_text(encoding="utf-8") in [f"{text.strip()}\n" for text in shown]


@pytest.mark.slow
@pytest.mark.parametrize("example", PRINT, ids=lambda path: path.stem)
def test_example_runs_and_prints(example: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env=environment() | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert "Traceback" not in run.stderr
