"""A bar of tqdm that follows a call, in notebooks and terminals.

A bar has no thread: the thread that waits for the call, or the event loop, draws it. tqdm is imported with the first
bar that is drawn, so a call of less than a second does not pay for it. A call without progress to report has a bar only
while it waits to retry, which says why.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from dataaccess._display.text import cell, counted, size

if TYPE_CHECKING:
    from asyncio import TimerHandle
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Self

    from dataaccess.reports import Progress

# Seconds of work before a bar shows by itself, and between two drawings.
_DELAY = 1.0
_PAUSE = 0.1
# Seconds between two looks of an event loop.
_TICK = 0.25
# Columns for what a call waits for.
_REASON = 60


class Bar:
    """A bar of tqdm. It is closed at the end of its block, whatever ends it."""

    def __init__(
        self, label: str, convert: Callable[[Any], Progress], waits_for: Callable[[], str | None], *, is_wanted: bool
    ) -> None:
        """Draws nothing yet. A bar that was asked for is drawn at once, and stays."""
        self._label, self._convert, self._is_wanted = cell(label), convert, is_wanted
        self._waits_for = waits_for
        self._began = monotonic()
        self._due = self._began + (0 if is_wanted else _DELAY)
        self._first: Progress | None = None
        self._last: Progress | None = None
        self._bar: Any = None

    def __enter__(self) -> Self:
        """The callback."""
        return self

    def __call__(self, update: Any) -> None:
        """Notes an update, and draws it if it is time."""
        self._last = self._convert(update)
        self._first = self._first or self._last
        self.tick()

    def tick(self) -> None:
        """Draws the time, the last update and why the call waits, if it is time."""
        now = monotonic()
        if now < self._due:
            return
        self._due = now + _PAUSE
        reason = self._waits_for()
        if self._last is not None or self._bar is not None or reason is not None:
            self._draw(reason)

    def take(self, update: Any | None) -> None:
        """Notes an update, or that there is none."""
        if update is None:
            self.tick()
        else:
            self(update)

    def pause(self) -> None:
        """Removes the bar while nothing happens. It shows again after a second in which something does."""
        self._due = monotonic() + _DELAY
        if self._bar is not None:
            self._draw(None, is_last=True)
            self._bar = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Shows the end and closes the bar."""
        if self._bar is not None:
            self._draw(None, is_last=True)
        self._bar, self._due = None, inf

    def _draw(self, reason: str | None, *, is_last: bool = False) -> None:
        """Draws the progress. A bar that cannot be drawn is given up, and the call goes on."""
        try:
            self._show(self._last or _no_progress(), reason)
            if is_last:
                self._bar.close()
        except KeyboardInterrupt:
            self._give_up()
            # Without the frames of tqdm and of widgets, which are nothing to the user.
            raise KeyboardInterrupt from None
        except Exception as error:
            from logging import getLogger

            getLogger("dataaccess").debug("no progress bar: %r", error)
            self._give_up()

    def _give_up(self) -> None:
        bar, self._bar, self._due = self._bar, None, inf
        if bar is not None:
            with suppress(Exception):
                bar.close()

    def _show(self, progress: Progress, reason: str | None) -> None:
        if self._bar is not None and self._bar.total != _total(progress):
            # It has another form, and is not done although it ends.
            self._bar.total, self._bar.leave = None, False
            self._bar.close()
            self._bar = None
        if self._bar is None:
            self._bar = self._opened(progress)
        if self._bar is None:
            self._due = inf
            if reason is not None and sys.stderr is not None:
                print(f"{self._label}: waiting: {_reason(reason)}", file=sys.stderr)  # noqa: T201 - the bar would say it
            return
        self._bar.n = progress.done
        figures = [] if self._last is None else _figures(self._first or progress, progress)
        if reason is not None:
            figures.append(f"waiting: {_reason(reason)}")
        self._bar.set_postfix_str(", ".join(figures), refresh=False)
        self._bar.refresh()

    def _opened(self, progress: Progress) -> Any:
        """A new bar; None without tqdm, or if tqdm draws none."""
        try:
            make = _tqdm()
        except ImportError:
            if self._is_wanted and sys.stderr is not None:
                print("no progress bar without tqdm: pip install tqdm", file=sys.stderr)  # noqa: T201 - was asked for
            return None
        total = _total(progress)
        counts = "" if total is None else f"{{percentage:3.0f}}%|{{bar}}| {{n:,}}/{{total:,}} {progress.unit} "
        bar = make(
            total=total,
            initial=self._first.done if self._first else 0,
            bar_format=f"{{desc}}: {counts}[{{elapsed}}{'' if total is None else '<{remaining}'}{{postfix}}]",
            desc=self._label,
            leave=self._is_wanted,
            dynamic_ncols=True,
        )
        if bar.disable:
            # `TQDM_DISABLE=1`.
            return None
        # tqdm measures from here on, but the call has begun earlier.
        bar.start_t -= monotonic() - self._began
        return bar


class AsyncBar(Bar):
    """A bar that the running event loop draws while there are no updates."""

    def __init__(self, bar: Bar) -> None:
        """Draws nothing yet."""
        self.__dict__.update(bar.__dict__)
        self._timer: TimerHandle | None = None

    def __enter__(self) -> Self:
        """The callback."""
        self._wait()
        return self

    def _wait(self) -> None:
        from asyncio import get_running_loop

        self._timer = get_running_loop().call_later(_TICK, self._look)

    def _look(self) -> None:
        self._wait()
        self.tick()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Also ends the looks."""
        if self._timer is not None:
            self._timer.cancel()
        super().__exit__(kind, error, traceback)


def _total(progress: Progress) -> int | None:
    """The length of a bar; None for what is done in one step, or of unknown length."""
    return progress.total if progress.total is not None and progress.total > 1 else None


def _no_progress() -> Progress:
    from dataaccess.reports import Progress

    return Progress(unit="tasks", total=None, done=0)


def _reason(message: str) -> str:
    """Why a call waits: the failure, without its cause."""
    return cell(message.partition(": ")[0], _REASON)


def _figures(first: Progress, now: Progress) -> list[str]:
    """Rows, bytes, speed and what went wrong."""
    # A running export does not say its rows.
    is_known = now.rows > 0 if now.unit == "entries" else not (now.unit == "rows" and _total(now))
    figures = [counted(now.rows, "row")] if is_known else []
    if now.seconds > 0 and now.rows > first.rows:
        figures.append(f"{(now.rows - first.rows) / now.seconds:,.0f} rows/s")
    figures += [size(now.bytes)] if now.bytes else []
    figures += [counted(now.retries, "retry", "retries")] if now.retries else []
    figures += [f"{now.failed:,} failed"] if now.failed else []
    return figures


def _tqdm() -> Any:
    """The class of tqdm for this terminal or notebook, without the thread that watches bars."""
    with warnings.catch_warnings():
        # Without ipywidgets, a notebook shows bars as text: nobody asked for a warning.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

    def finalize(bar: Any) -> None:
        # A bar whose construction was interrupted lacks what closing needs.
        with suppress(Exception):
            tqdm.__del__(bar)

    return type("Bar", (tqdm,), {"monitor_interval": 0, "__del__": finalize})
