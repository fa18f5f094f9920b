"""A lock for what a process has once. Nothing else is known here."""

from __future__ import annotations

import os
import threading


class ProcessLock:
    """A lock that a forked child has anew: the one it inherits may be held by a thread it does not have."""

    def __init__(self) -> None:
        """Not held."""
        self._locks: dict[int, threading.Lock] = {}

    def _own(self) -> threading.Lock:
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def __enter__(self) -> None:
        """Waits for the other threads of this process."""
        self._own().acquire()

    def __exit__(self, *_error: object) -> None:
        """Lets the next one in."""
        self._own().release()
