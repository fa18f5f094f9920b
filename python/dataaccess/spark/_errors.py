"""Errors as Spark shows them: ours first, as a traceback of Spark would hide it at its end."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from dataaccess.errors import DataAccessError, InternalError

if TYPE_CHECKING:
    from types import TracebackType


class _ShownFirst:
    """Prepares an error that passes for the text that Spark makes of it in another process.

    Spark prints the chain of an error: its cause, then the frames of Spark, then the error. So an error gets itself as
    its cause, which has no frames: Spark's text begins with it, and ends with it as before. Of an error with frames of
    another package Spark leaves out the chain, so it gets none of ours.
    """

    def __enter__(self) -> None:
        """Holds nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Lets the error pass."""
        is_ours = isinstance(error, DataAccessError) and not isinstance(error, InternalError)
        if error is not None and is_ours and error.__cause__ is None:
            error.__cause__ = copy(error)
            error.__traceback__ = None


shown_first = _ShownFirst()
