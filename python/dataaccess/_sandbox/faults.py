"""Faults and the request log of a `Sandbox`, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._sandbox.fault import Fault
from dataaccess._sandbox.received import ReceivedRequest, received

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from dataaccess._sandbox.control import Control
    from dataaccess._sandbox.fault import FaultKind, FaultPreset


class Faults:
    """Faults and the request log."""

    _control: Control

    def fault(
        self,
        kind: FaultKind | FaultPreset,
        *,
        path: str | None = None,
        where: Mapping[str, object] | None = None,
        times: int | None = None,
        after: int | None = None,
        probability: float | None = None,
        seed: int | None = None,
        after_bytes: int | None = None,
        status: int | None = None,
        retry_after: float | timedelta | None = None,
        body: str | None = None,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
        location: str | None = None,
        code: int | None = None,
        message: str | None = None,
        seconds: float | timedelta | None = None,
        max_seconds: float | timedelta | None = None,
        chunk_bytes: int | None = None,
        keep: float | None = None,
    ) -> Fault:
        """Makes responses fail in a `with` block, on the real connection.

        Kinds, with their options:

        - `reset`, `cut`, `stall`: the connection is reset, closed properly, or silent until the block ends. With
          `after_bytes`, the headers and that many bytes of the body are sent before; a shorter response passes
          unchanged. Without it nothing of the response is sent.
        - `status`: a response with `status` and, if given, `retry_after`, `body`, `content_type` and `headers`. The
          default body is an envelope; for 403 it is the permission failure of the API specification.
        - `redirect`: a response with `location`, `status` (302 by default) and, if given, `headers`.
        - `code`: HTTP 200 with a failure in the envelope: `code` and `message`.
        - `expired_token`: the token of the first affected request is refused from then on; other tokens are accepted.
        - `delay`: the response starts after `seconds`, or between `seconds` and `max_seconds`.
        - `drip`: the body is sent in pieces of `chunk_bytes`, with `seconds` between them.
        - `late_code`: the response begins as a successful one, with HTTP 200 and all its rows, and reports failure at
          its end: the last member of the body is `code`, with the given value, such as 500.
        - `shrink`: a search succeeds with the first rows alone: the share `keep` of them, a quarter by default.

        Presets are lists of faults that take `path`, `where`, `times`, `after`, `probability` and `seed`:

        - `flaky`: now and then a 502 with HTML, a reset, or a response that is cut off.
        - `slow`: each response starts after 0.5 to 3 seconds.
        - `throttled`: two of five requests get 429 with `Retry-After: 1`.
        - `expired-token`: as `expired_token`.
        - `shrinking`: as `shrink`, for searches.

        A fault that is never entered has no effect, and warns of that. The first active fault that matches gets the
        request. Requests that are refused for their host or size get none.

        Args:
            kind: What goes wrong, or a preset.
            path: "search", "download" or a path; None is all paths.
            where: What the body of a request must contain, all of it. `{"day": "2024-01-15"}`: a datetime condition
                that includes this day, in the sandbox's zone of days. `{"column": "code_status", "value": 3}`: a
                condition on the column, with this value; one of both is enough, and `day` may come with `column`.
                `{"item_type_name": "customer"}`, `{"item_type_id": -1003}`, `{"export_id": 5637051}`: the object or
                the export. `{"contains": "text"}`: text of the body as it was sent.
            times: Number of requests it applies to; None is no limit.
            after: Number of matching requests that pass before it applies.
            probability: Share of the matching requests that it applies to.
            seed: Decides which requests these are, and how long varying delays are. The same seed decides the same.
            after_bytes: Bytes of the body that are sent before.
            status: HTTP status, from 200 to 599.
            retry_after: Whole seconds for `Retry-After`.
            body: The body as a string; responses of status 204 and 304 have none.
            content_type: `Content-Type`, such as "text/html".
            headers: More headers of the response.
            location: `Location` of a redirect.
            code: `code` of the envelope.
            message: `message` of the envelope.
            seconds: Seconds, or a timedelta.
            max_seconds: The longest delay.
            chunk_bytes: Bytes of a piece, at most.
            keep: Share of the rows that stay, from 0 to below 1, rounded down.

        Returns:
            A context manager; its `hits` counts the responses it has changed.

        Raises:
            ConfigError: An option is missing, invalid, or not one of the kind.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     client = sandbox.client()
            ...     with sandbox.fault("status", status=503, retry_after=0, times=2) as fault:
            ...         rows = client.search_codes(allocated_time=da.on("2024-02-29"))
            >>> fault.hits, len(sandbox.requests)
            (2, 3)

            One day of a scan fails:

            >>> week = da.days("2024-01-08", "2024-01-15")
            >>> with da.Sandbox.demo() as sandbox:
            ...     scan = sandbox.client(retry_for=0).scan_codes(["id"], allocated_time=week)
            ...     with sandbox.fault("status", status=500, where={"day": "2024-01-10"}) as fault:
            ...         try:
            ...             rows = scan.to_dicts()
            ...         except da.ServerError:
            ...             print("hits:", fault.hits)
            hits: 1
        """
        options = {
            "path": path,
            "where": where,
            "times": times,
            "after": after,
            "probability": probability,
            "seed": seed,
            "after_bytes": after_bytes,
            "status": status,
            "retry_after": retry_after,
            "body": body,
            "content_type": content_type,
            "headers": headers,
            "location": location,
            "code": code,
            "message": message,
            "seconds": seconds,
            "max_seconds": max_seconds,
            "chunk_bytes": chunk_bytes,
            "keep": keep,
        }
        return Fault(self._control, kind, options)

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The latest requests, oldest first: at most 10,000, and 64 MiB of bodies.

        Refused requests are included. The list is a snapshot. A stopped sandbox keeps its log.
        """
        return [received(request) for request in self._control.call("GET", "/requests")["requests"]]

    def clear_requests(self) -> None:
        """Clears the request log.

        Raises:
            ClientClosedError: The sandbox belongs to the parent process.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"))
            ...     [request.status for request in sandbox.requests]
            ...     sandbox.clear_requests()
            ...     sandbox.requests
            [200]
            []
        """
        self._control.call("DELETE", "/requests")
