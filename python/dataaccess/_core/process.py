"""A lock that works on after a fork."""

from __future__ import annotations

import os
import threading


class ProcessLock:
    """A lock that a forked child has anew: a thread that does not exist in the child may hold the inherited one."""

    def __init__(self) -> None:
        """Makes a lock that is not held."""
        self._locks: dict[int, threading.Lock] = {}

    def _own(self) -> threading.Lock:
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def __enter__(self) -> None:
        """Waits for the other threads of this process."""
        self._own().acquire()

    def __exit__(self, *_error: object) -> None:
        """Releases the lock."""
        self._own().release()
