"""The bar of a stream that another library pulls: a thread draws it, as that library holds the caller's."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING

from dataaccess._core.bar import Bar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dataaccess._native import RawPulled
    from dataaccess.reports import Progress

# Seconds between two looks.
_TICK = 0.1


def show(
    label: str, convert: Callable[[Any], Progress], waits_for: Callable[[], str | None], pulled: RawPulled
) -> None:
    """Shows the progress until the stream has ended, or nobody has it any more; nothing while it is not pulled."""
    with Bar(label, convert, waits_for, is_wanted=False) as bar:
        while (state := pulled.state()) is not None:
            is_pulled, update = state
            if is_pulled:
                bar.take(update)
            else:
                bar.pause()
            sleep(_TICK)
