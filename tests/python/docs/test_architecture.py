"""ARCHITECTURE.md: the path of a call is the one that the code takes, and the tables are those of the code."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.pages import ROOT, table

import dataaccess as da

ARCHITECTURE = ROOT / "ARCHITECTURE.md"
PACKAGE = Path(da.__file__).parent


def drawn_path() -> list[tuple[str, str]]:
    """The files of the first drawing, with the function that it names in each."""
    drawing = ARCHITECTURE.read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    return re.findall(r"^(\S+) +([\w.]+)", drawing, re.MULTILINE)


def calls_of(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """The functions of the package that wait for this frame, with their files."""
    while frame is not None:
        if (path := Path(frame.f_code.co_filename)).is_relative_to(PACKAGE):
            name = frame.f_code.co_qualname.removesuffix(".<locals>.call")
            yield f"python/dataaccess/{path.relative_to(PACKAGE).as_posix()}", name
        frame = frame.f_back


def test_the_path_of_a_search_is_the_one_that_is_drawn(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
    da.search_codes(allocated_time=da.after("2024-01-01"))
    before: list[tuple[str, str]] = []
    waiting: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event == "call" and not waiting:
            before.extend(list(calls_of(frame))[:1])
        elif event == "c_call" and function.__name__ == "search_codes":
            waiting.extend(calls_of(frame))

    sys.setprofile(note)
    try:
        da.search_codes(allocated_time=da.after("2024-01-01"))
    finally:
        sys.setprofile(None)

    *python, (file, core) = drawn_path()
    assert [each for each in before if each in python] == python
    assert {*waiting} <= {*python}
    kind, name = core.split(".")
    source = (ROOT / file).read_text(encoding="utf-8")
    assert f"impl {kind} {{" in source
    assert re.search(rf"fn {name}\b", source)


def test_every_module_of_the_core_is_in_its_table() -> None:
    listed = [row[1].strip("`") for row in table(ARCHITECTURE, "## The modules of `src`")]
    assert sorted(listed) == sorted({path.stem for path in (ROOT / "src").iterdir()} - {"lib"})


def test_the_layers_of_the_package_are_those_of_import_linter() -> None:
    rows = table(ARCHITECTURE, "## The layers of the Python package")
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers, _ = pyproject["tool"]["importlinter"]["contracts"]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row[0])] == layers["layers"][::-1]
