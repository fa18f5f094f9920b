"""Warnings that name the line of the caller."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from dataaccess.errors import DataAccessWarning

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib is not imported for this


def warn_caller(message: str, category: type[DataAccessWarning], line: dict[str, Any] | None = None) -> None:
    """Warns at the line of the caller, or at one that `caller` returned earlier."""
    warnings.warn_explicit(message, category, **(line or caller()))


def caller() -> dict[str, Any]:
    """The first line of the stack outside of this package, as `warn_explicit` takes it."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    names = frame.f_globals
    return {
        "filename": frame.f_code.co_filename,
        "lineno": frame.f_lineno,
        "module": names.get("__name__") or "<string>",
        "registry": names.setdefault("__warningregistry__", {}),
    }
