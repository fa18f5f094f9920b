"""`AsyncClient`: the calls of the service, awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._client.asynchronous.scans import AsyncScans
from dataaccess._client.asynchronous.searches import AsyncSearches
from dataaccess._client.asynchronous.segments import AsyncSegments
from dataaccess._core.arguments import code_arguments
from dataaccess._core.checks import call_timeout
from dataaccess._core.embedded import warn_of_service
from dataaccess._core.managed import AsyncManaged
from dataaccess._core.progress import follow_async, no_updates
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import public

if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Any

    from dataaccess._client.check import ClientCheck
    from dataaccess.filters import Time


@public
@short_tracebacks
class AsyncClient(AsyncManaged, AsyncSearches, AsyncScans, AsyncSegments):
    """A client of the Data Access API for asyncio. Several event loops may use it, one after another or at once.

    Its calls write log records: `dataaccess.request` at `DEBUG` when an attempt starts and ends, `dataaccess.retry`
    at `WARNING` for each retry.

    Args:
        base_url: Address of the service, such as `https://cdp.example.com`; default: `DATAACCESS_BASE_URL`.
            `sandbox:demo` is the sandbox with demo data of the 60 days up to yesterday: no account, no network.
            `sandbox:demo?until=2024-02-29` has the days up to that one.
        token: A string, or a callable that returns a string or `(string, expires_at)`; default:
            `DATAACCESS_TOKEN`, but only for the service of `DATAACCESS_BASE_URL` or of the profile, if one of them
            names an address. A string is used until the service refuses it, an expiring one is renewed five
            minutes early. The callable may be a coroutine function, which runs in an event loop of its own.
            `da.token_file(path)` is such a callable. `sandbox:demo` has its own token and ignores
            this one.
        profile: Name of the profile that says what neither an argument nor the environment says; default:
            `DATAACCESS_PROFILE`, or the profile `default` if nothing else says an address. A client of a sandbox
            uses only the one that is named here.
        timezone: The time zone in which days begin, and in which times without a zone that you give are read: an IANA
            name or a `ZoneInfo`. If you give it, here, in a profile or by `DATAACCESS_TIMEZONE`, it is the zone of
            results too: see `tz` of `Scan.collect`.
        source_timezone: The time zone of the times in records, which the service writes without one: an IANA name or
            a `ZoneInfo`. A time that a clock change repeats is read as the earlier one, a time that it skips as the
            first one after it.
        day_comparison: What the service does with the day of `after_date` and `before_date`, which the API
            specification leaves open: "exclusive" if it excludes that day or compares instants, "inclusive" if it
            includes it. `da.since`, `da.until`, `da.after`, `da.before` and `between` send what gives their rows.
        code_value_type: "normal" sends `"value_type": "normal"` in each condition of promotion codes; None sends none.
            The API specification contradicts itself here; `check` finds out whether the service requires one.
        timeout: Seconds, or a timedelta, for a whole call with its retries. Each request of batches, files and scans of
            several requests has it for all its attempts, up to its first row; from then on a stall ends it.
        retry_for: Seconds, or a timedelta, from the first failure on, for which a request is tried again; 0 sends it
            once. Time in which rows arrive does not count. Unless it is given, a single call to a service that never
            responded to this client and cannot be reached ends after 4 seconds.
        retries: Requests that may follow the first, in addition to `retry_for`; None: as many as fit. 0 sends one.
            Otherwise one more is free if the service had closed the idle connection.
        concurrency: Requests of this client in flight at a time, over all calls and scans; None: no limit.
        requests_per_second: Requests per second, at most, over all users of this client.
        max_response_bytes: Size of the largest response that is read, after decompression.
        max_result_bytes: Memory that the result of a call, such as a list of rows or a table, may take; None: half of
            the memory of this machine or container. Batches and files need little memory, and have no such limit.
        max_buffered_bytes: How much of its responses a scan buffers in memory for a slow consumer. Responses that
            come next in the plan are read ahead up to this size.
        ca_bundle: PEM file, or folder of them, with the CAs to trust instead of the system's; default:
            `DATAACCESS_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR`, or `REQUESTS_CA_BUNDLE`.
        proxy: Address of a proxy; default: the proxy of the environment, but never for this machine.
        allow_http: Whether plain http may leave this machine.
        headers: More headers for each request. `Accept-Encoding` sets how responses may be compressed: any of
            `gzip`, `zstd` and `identity`, without weights; default: `gzip, zstd`. On a fast network `identity` can
            be faster. A client with a header that looks like a secret, such as `X-Api-Key`, does not pickle.
        item_types: Your business objects: `{"store": 7}`, or `{"store": {"id": 7, "attributes": {"opened":
            "timestamp"}}}`. Calls then need no `item_type_id`, names of attributes are checked, and columns have the
            declared types.
        strict_empty: Whether an empty result must be `[]`; otherwise `{}`, null and a missing `data` are empty too.
        attrs_format: How searches of other objects than promotion codes send `attrs`: "array", or "string" for one
            comma-separated string. The API specification describes both.
        known_row_cap: A number of rows at which the service is known to cap responses: one with exactly that number is
            reported (`IncompleteWarning`).
        export_success_codes: `responseCode` of an export entry that succeeded: one, or several. Any other one of an
            entry that has ended is a failure.
        record: File to record the exchanges into, without the token: requests, and responses with their customer data.
            It is made, readable by its owner only, or continued. `Sandbox.replay(path)` serves it.

    Raises:
        ConfigError: A setting is invalid, or there is no address or token; all problems are reported together. Or there
            is no such profile, or its file has mistakes.

    Examples:
        >>> import dataaccess as da
        >>> async with da.AsyncClient("sandbox:demo?until=2024-02-29") as client:
        ...     rows = await client.search_codes(allocated_time=da.on("2024-01-15"), limit=2)
        >>> len(rows)
        2
    """

    async def check(self, day: Time | None = None, *, timeout: float | timedelta | None = None) -> ClientCheck:
        """Checks address, token, scopes and, with a day, time zones and comparison. Changes nothing on the service.

        Sends a search that finds nothing and asks for the status of an export, each once. An error of the service is
        part of the result. A search of codes that is refused, or finds nothing on the day, is repeated with the other
        `code_value_type`.

        Args:
            day: A day that has rows. Up to ten searches find where that day ends: the instant that they send moves
                until the rows of the next day come. So the zone of days is found whichever zone times in records have,
                which is then read from the rows. Two more searches find whether `day_comparison` is right.
            timeout: Seconds, or a timedelta, for all requests together; None is 30, or that of the client if it is
                less. What was not asked by then is not known.

        Returns:
            A `ClientCheck`; `print(check)` shows it in a few lines.

        Raises:
            ConfigError: `timeout` is not a positive number of seconds.
            ValidationError: `day` is not a day.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> check = await client.check("2024-01-15")
            >>> check.is_ok, check.scopes, check.day
            (True, {'item': True, 'download': None}, 'the 73 rows of 2024-01-15 are of that day')
        """
        from dataaccess._client.findings import ANY_EXPORT, EMPTY_DAY, Findings
        from dataaccess.filters import on

        findings = Findings(self, timeout)
        if day is not None:
            # Before anything is sent.
            findings.rows_of(day)
        nothing = code_arguments(["id"], on(EMPTY_DAY), None, None, None, 1)
        with findings.of("item"):
            await findings.raw.search_codes_async(nothing)
        if "item" in findings.errors and findings.try_other_form():
            with findings.of("item"):
                await findings.raw.search_codes_async(nothing)
            findings.settle_form(is_better="item" not in findings.errors)
        if (left := findings.left()) is not None:
            with findings.of("download"):
                await findings.raw.download_segment_async(ANY_EXPORT, left)
        if day is not None and (left := findings.left()) is not None:
            with findings.of("day"):
                rows, _ = await findings.raw.search_codes_async(findings.rows_of(day, left))
                if not rows and findings.try_other_form():
                    # A service that refuses the other form says nothing about this day.
                    with findings.of("other form"):
                        rows, _ = await findings.raw.search_codes_async(findings.rows_of(day, findings.left()))
                    findings.settle_form(is_better=bool(rows))
                search = findings.search_of(rows)
                while rows and (instant := search.instant) is not None and (left := findings.left()) is not None:
                    found, _ = await findings.raw.search_codes_async(search.arguments(instant, left))
                    search.add(row["id"] for row in found)
                findings.add_day(day, search)
        if (comparison := findings.comparison_search()) is not None:
            with findings.of("day_comparison"):
                while comparison.operator is not None and (left := findings.left()) is not None:
                    found, _ = await findings.raw.search_codes_async(comparison.arguments(left))
                    comparison.add(row["id"] for row in found)
                findings.add_comparison(comparison)
        return findings.result()

    async def post(
        self, path: str, body: object, *, idempotent: bool = False, timeout: float | timedelta | None = None
    ) -> dict[str, Any]:
        """POSTs any JSON body to a path below `base_url`: the escape hatch for what the API specification lacks.

        Args:
            path: A path such as `/access/api/item/search`.
            body: Anything `json.dumps` accepts.
            idempotent: Whether the request may be sent twice. Otherwise it is retried only if nothing can have left
                this machine.
            timeout: Seconds, or a timedelta, for this call with its retries; None is the client's.

        Returns:
            The whole envelope as a dict.

        Raises:
            ConfigError: The path leaves the base URL.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> body = {"scope": "download", "exportId": 5637051}
            >>> envelope = await client.post("/access/api/segment/download", body)
            >>> envelope["message"]
            'Success'
        """
        with follow_async(None, "post", no_updates, self._raw.waits_for) as report:
            envelope = await self._raw.post_async(path, body, idempotent, call_timeout(timeout), report)
        warn_of_service()
        return envelope

    async def close(self) -> None:
        """Ends the calls in flight and refuses later ones. Closing twice has no effect.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> await client.close()
        """
        self._raw.close()

    async def aclose(self) -> None:
        """Closes it, as `close`: the name that `contextlib.aclosing` calls.

        Examples:
            >>> import contextlib
            >>> import dataaccess as da
            >>> async with contextlib.aclosing(da.AsyncClient("sandbox:demo?until=2024-02-29")) as client:
            ...     rows = await client.search_codes(allocated_time=da.on("2024-01-15"), limit=2)
            >>> len(rows)
            2
        """
        self._raw.close()
