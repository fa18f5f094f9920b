"""`progress=` of long calls: a function gets counts, or tqdm draws a bar in notebooks and terminals."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import closing, contextmanager
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from dataaccess._core.checks import invalid, optional
from dataaccess._display.text import cell, counted, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from dataaccess.reports import Progress, ProgressArgument

# Seconds of work before a bar shows by itself.
_DELAY = 1.0
# Seconds between two drawings; where a notebook has no widgets, each is a line of its output.
_PAUSE = 0.1
_PAUSE_OF_LINES = 1.0


@contextmanager
def follow(
    progress: ProgressArgument, label: str, convert: Callable[[], Callable[[Any], Progress]]
) -> Iterator[Callable[[Any], object] | None]:
    """Gives the callback for the updates of the call `label`, or None if nobody looks.

    `convert` makes the function that turns an update into a `Progress`, as the call begins.
    """
    if str(getattr(progress, "__module__", None)).partition(".")[0] == "tqdm":
        raise invalid("progress", "is a bar of tqdm, and the package has its own: write progress=True", progress)
    if callable(progress):
        of_update = convert()
        yield lambda update: progress(of_update(update))
    elif progress is not None and not isinstance(progress, bool):
        raise invalid("progress", "must be True, False, None or a function", progress)
    elif progress or (progress is None and _has_viewer()):
        with closing(Bar(label, convert(), is_wanted=progress is True)) as bar:
            yield bar
    else:
        yield None


class Bar:
    """A bar of tqdm. A call goes on without a bar that cannot be drawn.

    A wanted bar shows with the first update, and stays; another shows after a second.
    """

    def __init__(self, label: str, convert: Callable[[Any], Progress], *, is_wanted: bool) -> None:
        """Imports tqdm for a wanted bar, which so raises an `ImportError` at once."""
        if is_wanted:
            optional("tqdm")
        self._label, self._convert = cell(label), convert
        self._stays, self._delay, self._pause = is_wanted, 0.0 if is_wanted else _DELAY, _PAUSE
        self._began = monotonic()
        self._due = self._began + self._delay
        self._first: Any = None
        self._last: Any = None
        self._bar: Any = None

    def __call__(self, update: Any) -> None:
        """Takes an update, and draws it if it is time."""
        self._last = self._convert(update)
        self._first = self._first or self._last
        if monotonic() >= self._due:
            self._draw()

    def close(self) -> None:
        """Draws the end of a bar that stays, and removes another."""
        if self._bar is not None:
            self._draw(is_last=True)

    def _draw(self, *, is_last: bool = False) -> None:
        total = None if self._last.total == 1 else self._last.total
        try:
            if self._bar is None or self._bar.total != total:
                self._open(total)
            self._bar.n = self._last.done
            self._bar.set_postfix_str(_figures(self._first, self._last), refresh=False)
            self._due = monotonic() + self._pause
            (self._bar.close if is_last else self._bar.refresh)()
        except Exception:
            self._bar, self._due = None, inf

    def _open(self, total: int | None) -> None:
        if self._bar is not None:
            # A notebook shows a bar that has a total and does not reach it as failed.
            self._bar.leave, self._bar.total = False, None
            self._bar.close()
        with warnings.catch_warnings():
            # A notebook without ipywidgets gets lines of text. tqdm would warn of it.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
        if _in_notebook() and "ipywidgets" not in sys.modules:
            # A line that is removed would leave an empty output.
            self._stays, self._pause = True, _PAUSE_OF_LINES
        counts = "" if total is None else f"{{percentage:3.0f}}%|{{bar}}| {{n:,}}/{{total:,}} {self._last.unit} "
        # No thread watches bars.
        self._bar = type("Bar", (tqdm,), {"monitor_interval": 0})(
            desc=self._label,
            total=total,
            initial=self._first.done,
            bar_format=f"{{desc}}: {counts}[{{elapsed}}{'' if total is None else '<{remaining}'}{{postfix}}]",
            leave=self._stays,
            delay=self._delay,
            dynamic_ncols=True,
        )
        if not self._bar.disable:
            # The call began before its bar.
            self._bar.start_t = self._bar.last_print_t - (monotonic() - self._began)


def _figures(first: Progress, now: Progress) -> str:
    """The rows, the speed, and what went wrong."""
    figures = [counted(now.rows, "row")] if now.rows or now.unit == "tasks" else []
    if now.seconds > 0 and now.rows > first.rows:
        figures.append(f"{(now.rows - first.rows) / now.seconds:,.0f} rows/s")
    figures += [size(now.bytes)] if now.bytes else []
    figures += [counted(now.retries, "retry", "retries")] if now.retries else []
    figures += [f"{now.failed:,} failed"] if now.failed else []
    return ", ".join(figures)


def _has_viewer() -> bool:
    """Whether this is a notebook or a terminal."""
    if _in_notebook():
        return True
    try:
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        # There is no standard error, or it is closed.
        return False


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
