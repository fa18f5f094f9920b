"""`progress=` of long calls: counts for a function, or a bar in notebooks and terminals. Without either, nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dataaccess._core.checks import invalid

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from dataaccess._core.bar import Bar
    from dataaccess.reports import Progress, ProgressArgument


# One for each block in which no bar shows by itself.
_quiet_blocks: list[None] = []


def follow(
    progress: ProgressArgument,
    label: str,
    convert: Callable[[], Callable[[Any], Progress]],
    waits_for: Callable[[], str | None] = lambda: None,
) -> Callback | Bar | Silence:
    """Follows a call: a context manager that gives the callback for its updates; None if nobody wants them.

    `convert` makes the function that makes a `Progress` of an update, for a call that begins now. `waits_for` says why
    the call waits to retry, as a bar shows it.

    Raises:
        ValidationError: `progress` is something else than None, a bool or a callable.
    """
    if str(getattr(progress, "__module__", None)).partition(".")[0] == "tqdm":
        raise invalid("progress", "is a bar of tqdm, and the package has its own: write progress=True", progress)
    if callable(progress):
        return Callback(progress, convert())
    if progress is not None and not isinstance(progress, bool):
        raise invalid("progress", "must be True, False, None or a function", progress)
    if progress or (progress is None and _has_viewer()):
        from dataaccess._core.bar import Bar

        return Bar(label, convert(), waits_for, is_wanted=progress is True)
    return Silence()


def follow_async(
    progress: ProgressArgument,
    label: str,
    convert: Callable[[], Callable[[Any], Progress]],
    waits_for: Callable[[], str | None] = lambda: None,
) -> Callback | Bar | Silence:
    """As `follow`, in an event loop."""
    followed = follow(progress, label, convert, waits_for)
    if isinstance(followed, Callback | Silence):
        return followed
    from dataaccess._core.bar import AsyncBar

    return AsyncBar(followed)


class WithoutBars:
    """A block in which no bar shows by itself: the command has its own line."""

    def __enter__(self) -> None:
        """It begins."""
        _quiet_blocks.append(None)

    def __exit__(self, *_error: object) -> None:
        """It ends."""
        _quiet_blocks.pop()


def no_updates() -> Callable[[Any], Progress]:
    """For a call without progress to report."""
    return _none


def _none(update: Any) -> Progress:
    raise TypeError(update)


def _has_viewer() -> bool:
    """Whether somebody looks: in a notebook, or at a terminal."""
    if _quiet_blocks:
        return False
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        return True
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # There is no stderr, or it is closed.
        return False


class Silence:
    """Nobody looks."""

    def __enter__(self) -> None:
        """No callback."""

    def __exit__(self, *_error: object) -> None:
        """Nothing to end."""


class Callback:
    """The user's function, which gets each update as a `Progress`."""

    def __init__(self, function: Callable[[Progress], object], convert: Callable[[Any], Progress]) -> None:
        """Calls nothing yet."""
        self._function, self._convert = function, convert

    def __enter__(self) -> Self:
        """The callback."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing to end."""

    def __call__(self, update: Any) -> object:
        """Returns what the function returns, which may be a coroutine."""
        return self._function(self._convert(update))
