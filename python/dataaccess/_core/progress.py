"""`progress=` of long calls: counts for a function, or a bar in notebooks and terminals. Without either, nothing."""

from __future__ import annotations

import sys

from dataaccess._core.checks import invalid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from dataaccess._core.bar import Bar
    from dataaccess.reports import Progress, ProgressArgument


def follow(
    progress: ProgressArgument, label: str, convert: Callable[[], Callable[[Any], Progress]]
) -> Callback | Bar | Silence:
    """Follows a call: a context manager that gives the callback for its updates; None if nobody wants them.

    `convert` makes the function that makes a `Progress` of an update, for a call that begins now.

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

        return Bar(label, convert(), is_wanted=progress is True)
    return Silence()


def follow_async(
    progress: ProgressArgument, label: str, convert: Callable[[], Callable[[Any], Progress]]
) -> Callback | Bar | Silence:
    """As `follow`, in an event loop."""
    followed = follow(progress, label, convert)
    if isinstance(followed, Callback | Silence):
        return followed
    from dataaccess._core.bar import AsyncBar

    return AsyncBar(followed)


def _has_viewer() -> bool:
    """Whether somebody looks: in a notebook, or at a terminal."""
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
