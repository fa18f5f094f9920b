"""The program in which a client is made, such as Airflow: a part of `User-Agent`."""

from __future__ import annotations

import threading


class _Current(threading.local):
    host: str | None = None


_current = _Current()


class hosted:
    """Within it, clients that this thread makes name a program, with the first two numbers of its version."""

    def __init__(self, name: str | None, version: str | None = None) -> None:
        """Changes nothing yet."""
        self._host = name if version is None else f"{name}/{'.'.join(version.split('.')[:2])}"

    def __enter__(self) -> None:
        """Begins."""
        self._outer, _current.host = _current.host, self._host

    def __exit__(self, *_: object) -> None:
        """Ends."""
        _current.host = self._outer


def host() -> str | None:
    """The program of a client that is made now."""
    return _current.host
