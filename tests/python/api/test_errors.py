"""The exceptions: the tree, their fields, their travels."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from support import kinds

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


def all_fields(kind: type[da.DataAccessError]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: f"<{name}>" for name in kinds.fields_of(kind)}
    if kind is da.ValidationError:
        fields["problems"] = [da.Problem("a", "", "<problems>", "1")]
    return fields


def full(kind: type[da.DataAccessError]) -> da.DataAccessError:
    error = kind("search_codes: what and where", **all_fields(kind))
    error.add_note("seen on a Monday")
    return error


def test_the_tree_is_as_drawn() -> None:
    tree = drawn()
    assert set(tree) == NAMES
    for kind in CLASSES:
        # A second class of ours is in brackets, as a builtin is.
        ours = [base.__name__ for base in kind.__bases__ if base.__name__ in NAMES]
        assert ours[:1] == [name for name in [tree[kind.__name__]] if name]
        assert all(f"{kind.__name__} ({base})" in (errors.__doc__ or "") for base in ours[1:])


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_an_exception_survives_pickle_and_copy_with_all_its_fields(
    kind: type[da.DataAccessError],
) -> None:
    error = full(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind
        assert str(again) == str(error) == "search_codes: what and where"
        for name, value in all_fields(kind).items():
            # They may have values of records.
            assert getattr(again, name) == (None if name in ("body_excerpt", "value") else value)
        assert again.__notes__ == ["seen on a Monday"]


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (da.ConfigError, ValueError),
        (da.ValidationError, ValueError),
        (da.ConnectError, ConnectionError),
        (da.ConnectError, OSError),
        (da.RequestTimeoutError, TimeoutError),
        (da.ConnectionLostError, ConnectionError),
        (da.WaitTimeoutError, TimeoutError),
        (da.FileError, OSError),
        (da.ClientClosedError, RuntimeError),
    ],
)
def test_what_is_a_builtin_too(kind: type[Exception], builtin: type[Exception]) -> None:
    assert issubclass(kind, builtin)


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
