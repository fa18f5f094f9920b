"""Ctrl-C for queries of other libraries: they hold the main thread in native code, where Python handles no signal.

Python writes the number of each signal into the file descriptor of `signal.set_wakeup_fd`. The core reads it and ends
the streams. Python raises `KeyboardInterrupt` when the library returns.
"""

from __future__ import annotations

import os
import signal
from threading import current_thread, main_thread

from dataaccess._native import wakeup_fd

# The descriptors that this process and its parents set.
_ours: set[int] = set()


def ends_at_interrupt() -> bool:
    """Whether Ctrl-C ends a stream that this thread begins. If so, the core gets the signal.

    Python interrupts only the main thread. A program with its own handler decides what an interrupt means. An event
    loop or another library may use the descriptor.
    """
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    descriptor = wakeup_fd()
    if descriptor is None:
        return False
    other = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    if other not in (-1, descriptor):
        signal.set_wakeup_fd(other)
        return False
    if not _ours:
        os.register_at_fork(after_in_child=_leave_to_parent)
    _ours.add(descriptor)
    return True


def _leave_to_parent() -> None:
    """Keeps the signals of a forked child from the inherited descriptor of its parent."""
    other = signal.set_wakeup_fd(-1)
    if other not in _ours:
        signal.set_wakeup_fd(other)
