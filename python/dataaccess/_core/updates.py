"""Callbacks of awaited calls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any


async def awaited(call: Callable[..., Awaitable[Any]], callback: Callable[[Any], object] | None) -> Any:
    """Awaits a call that takes a callback, which this task calls with each update. It awaits a coroutine."""
    if callback is None:
        return await call(None)
    from asyncio import Queue, get_running_loop  # not loaded for a `Client`

    updates: Queue[Any] = Queue()
    # The core calls back in another thread, and before its result is set.
    loop: Any = get_running_loop()
    future: Any = call(partial(loop.call_soon_threadsafe, updates.put_nowait))
    future.add_done_callback(lambda _: updates.put_nowait(None))
    try:
        while (update := await updates.get()) is not None:
            returned = callback(update)
            if hasattr(returned, "__await__"):
                await returned
    except BaseException:
        future.cancel()
        raise
    return await future
