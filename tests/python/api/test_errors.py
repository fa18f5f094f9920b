"""The exceptions: the tree, their fields, their travels."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

import pytest

import dataaccess as da
from dataaccess import errors

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, (da.DataAccessError, da.DataAccessWarning))
]
EXCEPTIONS = [value for value in CLASSES if issubclass(value, da.DataAccessError)]
NAMES = {value.__name__ for value in CLASSES}


def drawn() -> dict[str, str | None]:
    """The tree at the top of the file: each class with its parent."""
    parents: dict[str, str | None] = {}
    above: list[str] = []
    for line in inspect.getdoc(errors).splitlines():  # type: ignore[union-attr]
        match = re.match(r"(?P<indent>[ │├└─]*)(?P<name>\w+(?:Error|Warning))\b", line)
        if match and match["name"] in NAMES:
            depth = len(match["indent"].removeprefix("    ")) // 3
            above[depth:] = [match["name"]]
            parents[match["name"]] = above[depth - 1] if depth else None
    return parents


def test_the_tree_is_as_drawn() -> None:
    tree = drawn()
    assert set(tree) == NAMES
    for kind in CLASSES:
        # A second class of ours is in brackets, as a builtin is.
        ours = [base.__name__ for base in kind.__bases__ if base.__name__ in NAMES]
        assert ours[:1] == [name for name in [tree[kind.__name__]] if name]
        assert all(f"{kind.__name__} ({base})" in (errors.__doc__ or "") for base in ours[1:])


def test_exit_codes_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "errors.md").read_text(encoding="utf-8")
    listed = {
        name: int(code)
        for code, names in re.findall(r"^\| (\d+) \| [^|]* \| (.*) \|$", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }
    permanent = {kind.__name__: kind("text").exit_code for kind in EXCEPTIONS}
    inherited = {
        kind.__name__: next(base.__name__ for base in kind.__mro__ if base.__name__ in listed) for kind in EXCEPTIONS
    }
    assert permanent == {name: listed[base] for name, base in inherited.items()}
    assert {kind("text", retryable=True).exit_code for kind in EXCEPTIONS} == {listed["retryable"]}
    sysexits = {getattr(os, name) for name in dir(os) if name.startswith("EX_")}
    assert set(listed.values()) <= sysexits


@pytest.mark.parametrize(("reason", "code"), [("mismatch", 64), ("corrupt", 65), ("unusable", 74), (None, 74)])
def test_the_exit_code_of_a_folder_follows_from_the_reason(reason: str | None, code: int) -> None:
    assert da.FolderError("text", reason=reason).exit_code == code
    assert da.FolderError("text", reason=reason, retryable=True).exit_code == 75
