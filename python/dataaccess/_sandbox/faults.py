"""Faults asked of a `Sandbox`, and the log of what it received: what a test looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._sandbox.fault import Fault
from dataaccess._sandbox.received import ReceivedRequest, received

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._native import RawSandbox
    from dataaccess._sandbox.fault import FaultKind


class Faults:
    """What goes wrong, and what was seen."""

    _raw: RawSandbox

    def fault(
        self,
        kind: FaultKind,
        *,
        path: str | None = None,
        times: int | None = None,
        after: int = 0,
        after_bytes: int | None = None,
        status: int | None = None,
        retry_after: float | timedelta | None = None,
        body: str | None = None,
        seconds: float | timedelta | None = None,
        chunk_bytes: int | None = None,
        code: int | None = None,
    ) -> Fault:
        """Makes answers fail for the time of a `with` block, on the real connection.

        Kinds, with their options:

        - `reset`, `cut`, `stall`: the connection is reset, closed properly, or silent until the block ends.
          With `after_bytes`, the head and so many bytes of the body are sent before, and an answer that is
          no longer passes whole; without, nothing of the answer is.
        - `status`: an answer with `status` and, if given, `retry_after` and `body`. Without a body it is an
          envelope; for 403 that is the permission failure of section 7.
        - `delay`: the answer begins after `seconds`.
        - `drip`: the body comes in pieces of `chunk_bytes`, with `seconds` between them.
        - `late_code`: `code` stands after the rows of an answer that is a success, with the value given.

        Without the `with` it never begins, of which a warning tells. The first fault in force that meets a
        request has it; requests of other machines or names, which are refused, and bodies that are too large
        meet none.

        Args:
            kind: What goes wrong.
            path: "search", "download" or a path; None is all.
            times: How many requests it meets before it lets all pass; None is without end.
            after: How many requests pass before it begins.
            after_bytes: Bytes of the body that are sent.
            status: HTTP status, from 200 to 599.
            retry_after: Whole seconds for `Retry-After`.
            body: The body as text; answers of status 204 and 304 have none.
            seconds: Seconds, or a timedelta.
            chunk_bytes: Most bytes of a piece.
            code: `code` of the envelope.

        Returns:
            A context manager; its `hits` counts the answers it has changed.

        Raises:
            ConfigError: An option that the kind does not take, needs, or cannot use.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.client()
            ...     with sandbox.fault("status", status=503, retry_after=0, times=2) as fault:
            ...         rows = client.search_codes(allocated_time=da.on("2024-02-29"))
            >>> fault.hits, len(sandbox.requests)
            (2, 3)
        """
        options = {
            "after_bytes": after_bytes,
            "status": status,
            "retry_after": retry_after,
            "body": body,
            "seconds": seconds,
            "chunk_bytes": chunk_bytes,
            "code": code,
        }
        return Fault(self._raw, kind, options, path=path, times=times, after=after)

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The latest requests received, oldest first, 10,000 and 64 MiB of bodies at most.

        Also those that were refused, for their token or before it was looked at. A snapshot, which stays
        what it is; a stopped sandbox still tells.
        """
        return [received(*request) for request in self._raw.requests()]

    def clear_requests(self) -> None:
        """Forgets the requests received so far.

        Raises:
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"))
            ...     [request.status for request in sandbox.requests]
            ...     sandbox.clear_requests()
            ...     sandbox.requests
            [200]
            []
        """
        self._raw.clear_requests()
