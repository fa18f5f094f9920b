"""What a forked child gets, and a parent that is in one of four states when it forks."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import dataaccess as da

CHILD_SECONDS = 15


def end_if_it_hangs() -> None:
    """For a child: resets an alarm, which was set for the parent."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(CHILD_SECONDS)


def in_child(act: Callable[[], object]) -> str:
    """What a forked child gets from `act`, or how it died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = "nothing"
        try:
            end_if_it_hangs()
            os.close(reader)
            text = repr(act())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        finally:
            os.write(writer, text.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        output = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child was ended by {os.waitstatus_to_exitcode(status)}, after {output!r}"
    return output


def count(client: da.Client) -> int:
    return len(client.search_codes(["id"], allocated_time=da.on("2024-01-15")))


@contextmanager
def in_a_scan(client: da.Client) -> Iterator[None]:
    """A stream is half read, by this thread, and the parent reads on after the fork."""
    scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    expected = scan.collect().num_rows
    batches = scan.batches(max_rows=500)
    seen = next(batches).num_rows
    yield
    assert seen + sum(batch.num_rows for batch in batches) == expected


@contextmanager
def working(act: Callable[[], object], threads: int = 1) -> Iterator[None]:
    """Threads that act until the block ends, and whose failures are the block's."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        while not stop.is_set():
            try:
                act()
            except BaseException as error:
                failures.append(error)
                return

    working = [threading.Thread(target=work) for _ in range(threads)]
    for thread in working:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in working:
            thread.join()
    assert failures == []


def in_many_threads(client: da.Client) -> AbstractContextManager[None]:
    """Threads that connect, search and download at once: some lock is held at any moment."""

    def work() -> None:
        mine = client.with_options(timeout=30)
        assert count(mine)
        assert client.download_segment(5637051)["code"] == 200

    return working(work, threads=4)


STATES: dict[str, Callable[[da.Client], AbstractContextManager[None]]] = {
    "idle": lambda _client: nullcontext(),
    # One call after the other, of another thread.
    "in a call": lambda client: working(lambda: count(client)),
    "in a scan": in_a_scan,
    "in many threads": in_many_threads,
}


def forked(state: str, sandbox: da.Sandbox) -> float:
    """Forks; the child searches, downloads and cannot stop the service. Returns its seconds to the first response."""
    client = sandbox.client()
    expected = count(client)

    def child() -> tuple[int, int, float]:
        started = time.monotonic()
        found = count(client)
        seconds = time.monotonic() - started
        sandbox.stop()
        return found, client.download_segment(5637051)["code"], seconds

    with STATES[state](client):
        time.sleep(0.02)
        output = in_child(child)
        assert output.startswith(f"({expected}, 200, "), output
    assert count(client) == expected
    return float(output.rpartition(" ")[2].rstrip(")"))
