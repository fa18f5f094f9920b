"""Faults and the request log of a `Sandbox`, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._sandbox.fault import Fault
from dataaccess._sandbox.received import ReceivedRequest, received

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._sandbox.control import Control
    from dataaccess._sandbox.fault import FaultKind


@short_tracebacks
class Faults:
    """Faults and the request log."""

    _control: Control

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
        """Makes responses fail in a `with` block, on the real connection.

        Kinds, with their options:

        - `reset`, `cut`, `stall`: the connection is reset, closed properly, or silent until the block ends. With
          `after_bytes`, the headers and that many bytes of the body are sent before; a shorter response passes
          unchanged. Without it nothing of the response is sent.
        - `status`: a response with `status` and, if given, `retry_after` and `body`. The default body is an envelope;
          for 403 it is the permission failure of the API specification.
        - `delay`: the response starts after `seconds`.
        - `drip`: the body is sent in pieces of `chunk_bytes`, with `seconds` between them.
        - `late_code`: the response begins as a successful one, with HTTP 200 and all its rows, and reports failure at
          its end: the last member of the body is `code`, with the given value, such as 500.

        A fault that is never entered has no effect, and warns of that. The first active fault whose path matches gets
        the request. Requests that are refused for their host or size get none.

        Args:
            kind: What goes wrong.
            path: "search", "download" or a path; None is all paths.
            times: Number of requests it applies to; None is no limit.
            after: Number of requests that pass before it applies.
            after_bytes: Bytes of the body that are sent before.
            status: HTTP status, from 200 to 599.
            retry_after: Whole seconds for `Retry-After`.
            body: The body as a string; responses of status 204 and 304 have none.
            seconds: Seconds, or a timedelta.
            chunk_bytes: Bytes of a piece, at most.
            code: `code` of the envelope.

        Returns:
            A context manager; its `hits` counts the responses it has changed.

        Raises:
            ConfigError: An option is missing, invalid, or not one of the kind.

        Examples:
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
        return Fault(self._control, kind, options, path=path, times=times, after=after)

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The latest requests, oldest first: at most 10,000, and 64 MiB of bodies.

        Refused requests are included. The list is a snapshot. A stopped sandbox keeps its log.
        """
        return [received(request) for request in self._control.call("GET", "/requests")["requests"]]

    def clear_requests(self) -> None:
        """Clears the request log.

        Raises:
            ForkedHandleError: The sandbox belongs to the parent process.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"))
            ...     [request.status for request in sandbox.requests]
            ...     sandbox.clear_requests()
            ...     sandbox.requests
            [200]
            []
        """
        self._control.call("DELETE", "/requests")
