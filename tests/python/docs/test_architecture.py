"""ARCHITECTURE.md: its tables are those of the code."""

from __future__ import annotations

import re
import tomllib

from support.pages import ROOT, table

ARCHITECTURE = ROOT / "ARCHITECTURE.md"


def test_every_module_of_the_core_is_in_its_table() -> None:
    listed = [row[1].strip("`") for row in table(ARCHITECTURE, "## The modules of `src`")]
    assert sorted(listed) == sorted({path.stem for path in (ROOT / "src").iterdir()} - {"lib"})


def test_the_layers_of_the_package_are_those_of_import_linter() -> None:
    rows = table(ARCHITECTURE, "## The layers of the Python package")
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers, _ = pyproject["tool"]["importlinter"]["contracts"]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row[0])] == layers["layers"][::-1]
