"""The public surface is the accepted one: its texts in this folder change in the commit that changes it.

The help of the command is a part of it; its texts are in `tests/python/cli/help`.
"""

from __future__ import annotations

import inspect
import os
import re
from difflib import unified_diff
from typing import Any

import pytest
from support.commands import run_here
from support.surface import FILES, FOLDER, TO_DO, text_of

import dataaccess as da

__all__ = ["run_here"]


@pytest.mark.parametrize("name", FILES)
def test_the_surface_is_the_accepted_one(run_here: Any, name: str) -> None:
    text, file = text_of(name, run_here), FOLDER / f"{name}.txt"
    if os.environ.get("ACCEPT_SURFACE"):
        file.write_text(text, encoding="utf-8")
    accepted = file.read_text(encoding="utf-8").splitlines()
    changes = list(unified_diff(accepted, text.splitlines(), "accepted", "now", lineterm="", n=0))
    assert not changes, "\n".join([TO_DO, *changes])


def test_every_text_is_of_a_part_of_the_surface() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == {*FILES}


def test_the_names_are_those_that_python_has() -> None:
    """Sources, which griffe reads, do not have what a class gets when it runs."""
    names = (re.split(r"[(: ]", line)[0] for line in (FOLDER / "python.txt").read_text(encoding="utf-8").splitlines())
    listed = {tuple(name.split(".")[-2:]) for name in names}
    kinds = [getattr(da, name) for name in {*da._HOMES, *da.errors.__all__} if inspect.isclass(getattr(da, name))]
    ours = {kind: [each for each in kind.__mro__ if each.__module__.startswith("dataaccess")] for kind in kinds}
    missing = [
        (kind.__name__, member)
        for kind, parents in ours.items()
        for member in {name for parent in parents for name in vars(parent) if not name.startswith("_")}
        if not listed & {(parent.__name__, member) for parent in parents}
    ]
    assert len(kinds) > len(da.errors.__all__)
    assert missing == []
