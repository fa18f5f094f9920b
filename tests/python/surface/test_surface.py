"""Names, settings and exit codes are the accepted ones: a change of them changes the texts of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path

import pytest
from support.pages import open_points

import dataaccess as da
from dataaccess import _native
from dataaccess._client.settings import KNOWN, SETTINGS
from dataaccess.spark._options import _ALL

FOLDER = Path(__file__).parent
TO_DO = "the public surface changed: accept it with ACCEPT_SURFACE=1 and tell users in CHANGELOG.md"


def names() -> Iterator[str]:
    """What `dir(da)` has, and the names of its modules."""
    yield from {*da.__all__, *da._HOMES}
    yield from (f"errors.{name}" for name in da.errors.__all__)


def settings() -> Iterator[str]:
    """The settings of clients, each with all that reads it; options of Spark, other variables, and switches."""
    read: set[str] = set()
    for name, spec in SETTINGS.items():
        bounds = f", {spec.least:g} to {'any' if spec.most is None else f'{spec.most:g}'}"
        variables = [spec.variable, *spec.shared]
        read.update(variables)
        found = [
            f"{name}: {spec.kind} = {spec.default!r}{bounds if spec.kind in ('integer', 'number') else ''}",
            *([" or ".join(spec.choices)] if spec.choices else []),
            f"key of a profile, {', '.join(variables)}",
            *(["option of the command, field of an Airflow connection"] if spec.is_usual else []),
            *(["option of Spark"] if name in _ALL else []),
        ]
        yield "; ".join(found)
    yield from (f"{name}: key of a profile" for name in ("token", "token_file"))
    yield from (f"{name}: option of Spark" for name in _ALL if name not in SETTINGS)
    yield from (f"variable {name}" for name in {*KNOWN, *_native.ENVIRONMENT} - read)
    yield from (f"switch {name} = {value!r}" for name, value in open_points().items() if value)


def exit_codes() -> Iterator[str]:
    """What a program should end with, by exception; of one that is retryable always 75."""
    for name in da.errors.__all__:
        kind = getattr(da.errors, name)
        if isinstance(kind, type) and issubclass(kind, da.DataAccessError):
            yield f"{name}: {kind().exit_code}"


FILES: dict[str, Callable[[], Iterator[str]]] = {"names": names, "settings": settings, "exit-codes": exit_codes}


@pytest.mark.parametrize("name", FILES)
def test_the_surface_is_the_accepted_one(name: str) -> None:
    text, file = "\n".join(sorted({*FILES[name]()})) + "\n", FOLDER / f"{name}.txt"
    if os.environ.get("ACCEPT_SURFACE"):
        file.write_text(text, encoding="utf-8")
    accepted = file.read_text(encoding="utf-8").splitlines()
    changes = list(unified_diff(accepted, text.splitlines(), "accepted", "now", lineterm="", n=0))
    assert not changes, "\n".join([TO_DO, *changes])
