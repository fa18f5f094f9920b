"""Warnings that name the line of the caller."""

from __future__ import annotations

import os
import sys
import warnings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from dataaccess.errors import DataAccessWarning

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib is not imported for this


def warn_of_recording(path: object) -> None:
    """Warns that a client records, as its file holds customer data."""
    from dataaccess.errors import RecordingWarning

    warn_caller(
        f"the client records its exchanges in {path}, with customer data: delete it after use", RecordingWarning
    )


def warn_caller(message: str, category: type[DataAccessWarning]) -> None:
    """Warns at the first line of the stack outside of this package."""
    level, frame = 1, sys._getframe()  # noqa: SLF001 - public but for its name
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
