"""Ctrl-C while waiting: at once, whatever is waited for, and the server sees it."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Iterator

import pytest
from support.interrupted import EARLY, SIX, STATES, hang, interrupt, search, seconds_late
from support.raw_server import serving

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    # Whoever starts the tests in the background has it ignored; and Hypothesis gives the collector a callback, in
    # which Python would drop the KeyboardInterrupt.
    before, callbacks = signal.signal(signal.SIGINT, signal.default_int_handler), gc.callbacks.copy()
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("state", [*EARLY, *STATES])
def test_p3_ctrl_c_ends_a_call_and_its_connection(state: str) -> None:
    if state == "connect" and sys.platform != "linux":
        pytest.skip("only here a full queue answers nothing")
    # Promised are 150 ms; the bound here leaves room for a busy machine, and is far below any time-out.
    assert seconds_late(state) < 2
    assert set(SIX) <= {*EARLY, *STATES}


def test_the_client_is_usable_after_ctrl_c(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    with serving(hang) as server:
        other = client.with_options(base_url=server.base_url)
        thread = threading.Thread(target=interrupt, args=(lambda: server.requests, 0.2, []))
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            search(other)
        thread.join()
    assert client.download_segment(5637051)["code"] == 200
