"""Short tracebacks: an error of a call is raised at the caller's line, without the frames of this package.

The error of arguments that do not fit names the public function, and an argument that may be meant.
"""

from __future__ import annotations

import os
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING

from dataaccess._public import did_you_mean
from dataaccess.errors import DataAccessError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any, TypeVar

    _T = TypeVar("_T", bound=type)
    _F = TypeVar("_F", bound=Callable[..., Any])


_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib is not imported for this

# `inspect.CO_COROUTINE`: to import inspect would take longer than to import the client.
_IS_COROUTINE_FUNCTION = 0x80

# What other libraries and `for` call.
_SPECIAL = ("__next__", "__anext__", "__arrow_c_stream__", "__arrow_c_schema__")


class _AtTheCaller:
    """Drops the frames of this package from an error that passes; the frame of the `with` block is dropped too."""

    def __enter__(self) -> None:
        """Holds nothing."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Lets the error pass."""
        if error is not None:
            _shorten(error)


def _shorten(error: BaseException) -> None:
    if error.__traceback__ is not None and _is_hidden(error, error.__traceback__):
        error.__traceback__ = None


def _is_hidden(error: BaseException, traceback: TracebackType) -> bool:
    # A defect is reported with its frames. Ctrl-C is none.
    if isinstance(error, DataAccessError | KeyboardInterrupt) and not isinstance(error, InternalError):
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
        if is_public and isinstance(member, FunctionType):
            setattr(cls, name, at_line(member))
    return cls


def at_line(function: _F) -> _F:
    """Raises errors of a function, or of what its coroutine awaits, at the line of the caller."""
    if function.__code__.co_flags & _IS_COROUTINE_FUNCTION:

        @wraps(function)
        async def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                return await function(*arguments, **keywords)
            except BaseException as error:
                _name_publicly(error, function, arguments, keywords)
                _shorten(error)
                raise
            finally:
                # No frame holds a secret of the caller once the call has failed.
                arguments, keywords = (), {}

    else:

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                return function(*arguments, **keywords)
            except BaseException as error:
                _name_publicly(error, function, arguments, keywords)
                _shorten(error)
                raise
            finally:
                arguments, keywords = (), {}

    return call  # type: ignore[return-value] # it has the signature of the function


def _name_publicly(error: BaseException, function: Any, arguments: Any, keywords: Iterable[str]) -> None:
    """Replaces the name of an internal base class in the error of arguments that do not fit."""
    if not isinstance(error, TypeError):
        return
    from inspect import signature

    text, named = str(error), f"{function.__qualname__}()"
    if (error.__traceback__ and error.__traceback__.tb_next) or not text.startswith(named):
        return
    owner = type(arguments[0]).__name__ if "." in function.__qualname__ else ""
    public = ".".join(name for name in (owner, function.__name__) if name not in ("", "__init__"))
    known = signature(function).parameters
    unknown = [name for name in keywords if f"unexpected keyword argument {name!r}" in text and name not in known]
    error.args = (f"{public}(){text.removeprefix(named)}{_by_name(public, text)}",)
    for name in unknown:
        error.args = (f"{public}() got an unexpected keyword argument {name!r}{suggestion(public, name, known)}",)


def _by_name(call: str, text: str) -> str:
    """The end of an error about too many arguments by position."""
    from dataaccess._core.advice import by_name

    advice = by_name(call) if "positional argument" in text and "given" in text else None
    return "" if advice is None else f": {advice}"


def suggestion(call: str, name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown argument: what to do, or an argument that may be meant."""
    from dataaccess._core.advice import advice_for

    advice = advice_for(call.rpartition(".")[2], name)
    return did_you_mean(name, known) if advice is None else f": {advice}"
