"""Changes of the service between two requests, however slow this machine is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, tzinfo

import dataaccess as da


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Waits for what another thread does."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"not within 30 s: {what}"
        time.sleep(0.02)


def requested_days(sandbox: da.Sandbox, zone: tzinfo = UTC) -> list[str]:
    """The days of the searches in the log of a service."""
    bodies = [request.body for request in sandbox.requests if "filters" in request.body]
    conditions = [condition for body in bodies for condition in body["filters"]["OR"][0]["AND"]]
    times = [condition["value"] for condition in conditions if condition["data_type"] == "datetime"]
    return [datetime.fromtimestamp(time / 1000, zone).date().isoformat() for time in times]


@contextmanager
def at_request(sandbox: da.Sandbox, number: int, change: Callable[[], object]) -> Iterator[None]:
    """Makes a change while a request is held: its response is the first that shows the change."""
    is_over = threading.Event()
    held = sandbox.fault("stall", after=number - 1, times=1)
    holding = ExitStack()
    holding.enter_context(held)

    def wait() -> None:
        with holding:
            while not held.hits and not is_over.wait(0.02):
                pass
            if held.hits:
                change()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert held.hits == 1, f"there was no request {number}"
