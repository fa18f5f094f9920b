"""Short tracebacks: an error of a call is raised at the caller's line, without the frames of this package."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any, TypeVar, cast

from dataaccess.errors import DataAccessError, InternalError

_T = TypeVar("_T", bound=type)
_F = TypeVar("_F", bound=Callable[..., Any])

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib is not imported for this

# What other libraries and `for` call.
_SPECIAL = ("__next__", "__anext__", "__arrow_c_stream__", "__arrow_c_schema__")


class _AtTheCaller(AbstractContextManager[None]):
    """Drops the frames of this package from an error that passes; the frame of the `with` block is dropped too."""

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Lets the error pass."""
        if error is not None and traceback is not None and _is_hidden(error, traceback):
            error.__traceback__ = None


def _is_hidden(error: BaseException, traceback: TracebackType) -> bool:
    # A defect is reported with its frames.
    if isinstance(error, DataAccessError) and not isinstance(error, InternalError):
        frame: TracebackType | None = traceback
        while frame is not None:
            # A callback of the user keeps its own.
            if not frame.tb_frame.f_code.co_filename.startswith(_PACKAGE):
                return False
            frame = frame.tb_next
        return True
    # Arguments that do not fit the signature.
    return isinstance(error, TypeError) and traceback.tb_next is None


at_the_caller = _AtTheCaller()


def short_tracebacks(cls: _T) -> _T:
    """Raises errors of the public methods of a class at the line of their caller."""
    for name, member in list(vars(cls).items()):
        is_public = name in _SPECIAL or not name.startswith("_")
        is_generator = inspect.isgeneratorfunction(member) or inspect.isasyncgenfunction(member)
        if is_public and isinstance(member, FunctionType) and not is_generator:
            setattr(cls, name, at_line(member))
    return cls


def at_line(function: _F) -> _F:
    """Raises errors of a function, or of what its coroutine awaits, at the line of the caller."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call(*arguments: Any, **keywords: Any) -> Any:
            with at_the_caller:
                return await function(*arguments, **keywords)

    else:

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            with at_the_caller:
                return function(*arguments, **keywords)

    return cast("_F", call)
