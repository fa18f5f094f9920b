"""A lock that survives a fork."""

from __future__ import annotations

import os
import threading


class ProcessLock:
    """A lock for each process: in a forked child, no thread would release the lock of the parent."""

    def __init__(self) -> None:
        """The lock is free."""
        self._locks: dict[int, threading.Lock] = {}

    def _own(self) -> threading.Lock:
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def __enter__(self) -> None:
        """Acquires the lock."""
        self._own().acquire()

    def __exit__(self, *_error: object) -> None:
        """Releases the lock."""
        self._own().release()
