"""The exceptions: the tree, their fields, their travels."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
import re
from typing import Any

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


def full(kind: type[da.DataAccessError]) -> da.DataAccessError:
    fields: dict[str, Any] = {name: f"<{name}>" for name in kind._fields}
    if kind is da.ValidationError:
        fields["problems"] = [da.Problem("a", "", "<problems>", 1)]
    error = kind("search_codes: what and where", **fields)
    error.add_note("seen on a Monday")
    return error


def test_the_tree_is_as_drawn() -> None:
    tree = drawn()
    assert set(tree) == NAMES
    for kind in CLASSES:
        ours = [base.__name__ for base in kind.__bases__ if base.__name__ in NAMES]
        assert ours == [name for name in [tree[kind.__name__]] if name]


def test_every_class_is_public_and_documented() -> None:
    assert set(errors.__all__) - {"Problem"} == NAMES
    assert all(inspect.getdoc(kind) for kind in CLASSES)


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_an_exception_survives_pickle_and_copy_with_all_its_fields(
    kind: type[da.DataAccessError],
) -> None:
    error = full(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind
        assert str(again) == str(error) == "search_codes: what and where"
        for name in kind._fields:
            left_out = kind is da.RecordError and name == "value"
            assert getattr(again, name) == (None if left_out else getattr(error, name))
        assert again.__notes__ == ["seen on a Monday"]


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_an_unknown_field_is_refused(kind: type[da.DataAccessError]) -> None:
    with pytest.raises(TypeError, match="colour"):
        kind("text", colour="red")


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (da.ConfigError, ValueError),
        (da.ValidationError, ValueError),
        (da.ConnectError, ConnectionError),
        (da.TlsError, OSError),
        (da.RequestTimeoutError, TimeoutError),
        (da.TruncatedResponseError, ConnectionError),
        (da.PermissionDeniedError, PermissionError),
        (da.WaitTimeoutError, TimeoutError),
        (da.FileError, OSError),
        (da.ClientClosedError, RuntimeError),
        (da.ForkedHandleError, RuntimeError),
    ],
)
def test_what_is_a_builtin_too(kind: type[Exception], builtin: type[Exception]) -> None:
    assert issubclass(kind, builtin)


def test_no_name_shadows_a_builtin() -> None:
    assert not NAMES & set(dir(builtins))
