"""`AsyncClient`: the calls of the service, awaited."""

from __future__ import annotations

from dataaccess._client.base import Connection
from dataaccess._client.results import checked_rows, checked_status, ended, update_callback
from dataaccess._core.arguments import code_arguments, item_arguments, problem_values
from dataaccess._core.checks import boolean_argument, call_timeout, seconds
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import public

TYPE_CHECKING = False

if TYPE_CHECKING:
    from datetime import timedelta
    from types import TracebackType
    from typing import Any, Self

    from dataaccess._scan.asynchronous.scan import AsyncScan
    from dataaccess.reports import ClientCheck
    from dataaccess.types import (
        Attributes,
        AttrsFormat,
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        ItemTypeName,
        OnSuspectedCap,
        OnUpdate,
        Row,
        Schema,
        SegmentStatus,
        Time,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )


@public
@short_tracebacks
class AsyncClient(Connection):
    """A client of the Data Access API for asyncio. Several event loops may use it, one after another or at once.

    Its calls write log records: `dataaccess.request` at `DEBUG` when an attempt starts and ends, `dataaccess.retry`
    at `WARNING` for each retry.

    Args:
        base_url: Address of the service, such as `https://cdp.example.com`; default: `DATAACCESS_BASE_URL`.
            `sandbox:demo` is the sandbox with demo data: no account, no network.
        token: A string, or a callable that returns a string or `(string, expires_at)`; default:
            `DATAACCESS_TOKEN`. A string is used until the service refuses it, an expiring one is renewed five
            minutes early. The callable may be a coroutine function, which runs in an event loop of its own.
            `da.token_file(path)` is such a callable. `sandbox:demo` has its own token and ignores
            this one.
        timezone: The time zone in which times without a zone are read: an IANA name or a `ZoneInfo`.
        timeout: Seconds, or a timedelta, for a whole call with its retries. Batches, files and scans of several
            requests have it for each request up to its first row; from then on only a stall ends it.
        retry_for: Seconds, or a timedelta, for which a failing request is tried again, everywhere; 0 sends it once. It
            runs from the first failure on, but not while a response arrives.
        retries: Requests that may follow the first, in addition to `retry_for`; None: as many as fit. 0 sends one.
            Otherwise one more is free if the service had closed the idle connection.
        concurrency: Requests of this client in flight at a time, over all calls and scans; None: no limit.
        requests_per_second: Requests per second, at most, over all users of this client.
        max_response_bytes: Size of the largest response that is read, after decompression.
        max_buffered_bytes: How much of its responses a scan buffers in memory for a slow consumer. Responses that
            come next in the plan are read ahead up to this size.
        ca_bundle: PEM file, or folder of them, with the CAs to trust instead of the system's; default:
            `DATAACCESS_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR`, or `REQUESTS_CA_BUNDLE`.
        proxy: Address of a proxy; default: the proxy of the environment, but never for this machine.
        allow_http: Whether plain http may leave this machine.
        headers: More headers for each request. `Accept-Encoding` sets how responses may be compressed: any of
            `gzip`, `zstd` and `identity`, without weights; default: `gzip, zstd`. On a fast network `identity` can
            be faster. A client with a header that looks like a secret, such as `X-Api-Key`, does not pickle.
        item_types: Names and ids of your business objects, such as `{"store": 7}`: calls then need no `item_type_id`.
        strict_empty: Whether an empty result must be `[]`; otherwise `{}`, null and a missing `data` are empty too.

    Raises:
        ConfigError: A setting is invalid, or there is no address or token; all problems are reported together.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> async def main() -> int:
        ...     async with da.AsyncClient("sandbox:demo") as client:
        ...         return len(await client.search_codes(allocated_time=da.on("2024-01-15"), limit=2))
        >>> asyncio.run(main())
        2
    """

    async def search_codes(
        self,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
        known_row_cap: int | None = None,
    ) -> list[Row]:
        """Searches promotion codes and returns the rows as dicts. The token needs the scope `item`.

        Args:
            attrs: Names of the attributes to return, of `da.PROMOTION_CODE_ATTRIBUTES`; None is all but `channel_id`.
            allocated_time: `da.since(day)` (that day included), `da.after(t)` or `da.before(t)` (that day excluded),
                `da.on(day)`, `da.op(operator, t)`, or `da.days(start, stop)` for one request per day, with the rows in
                the order of the days.
            audience_type: -1003 or "customer", -1007 or "visitor", or several. It needs `allocated_audience`:
                without it the service returns no rows.
            allocated_audience: One id of a customer or visitor, or several.
            code_status: 1 or "available", 3 or "sent", 4 or "used", or several.
            limit: Number of rows, at most. The rest of the response is not transferred where that is safe.
            timeout: Seconds, or a timedelta, for the whole call: all days of `da.days` and all retries together; None
                is that of the client.
            known_row_cap: A number of rows at which the service is known to cap responses: one with exactly so many is
                reported (`IncompleteWarning`). Without it, equal highest or round numbers of rows are.

        Returns:
            A list of dicts with the attributes as keys, in the order of `attrs`, and the values as the service sends
            them; a value that is not set is None. `pandas.DataFrame(rows)` accepts it.

        Raises:
            ValidationError: The request breaks a rule of the API specification; all problems are reported together.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> condition = da.after("2024-01-31")
            >>> rows = asyncio.run(client.search_codes(["code_status"], allocated_time=condition, code_status="used"))
            >>> rows[0]
            {'code_status': 4}
        """
        arguments = code_arguments(
            attrs, allocated_time, audience_type, allocated_audience, code_status, limit, timeout, known_row_cap
        )
        with problem_values(arguments):
            return checked_rows(await self._raw.search_codes_async(arguments))

    async def search_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        attrs_format: AttrsFormat = "array",
        limit: int | None = None,
        timeout: float | timedelta | None = None,
        known_row_cap: int | None = None,
    ) -> list[Row]:
        """Searches the items of a business object and returns the rows as dicts.

        Args:
            item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
            attrs: Names of the attributes to return.
            where: An expression of `da.col(name)`, or the raw filters `{"OR": [{"AND": […]}]}`. None: every record.
            item_type_id: Id of the business object; not needed for customers, promotion codes and `item_types` of the
                client.
            attrs_format: "array" sends the names as an array, "string" as one comma-separated string: the API
                specification describes both. Promotion codes always take the array.
            limit: Number of rows, at most. The rest of the response is not transferred where that is safe.
            timeout: Seconds, or a timedelta, for this call with its retries; None is that of the client.
            known_row_cap: A number of rows at which the service is known to cap responses: one with exactly so many is
                reported (`IncompleteWarning`). Without it, equal highest or round numbers of rows are.

        Returns:
            A list of dicts with the attributes as keys, in the order of `attrs`, and the values as the service sends
            them; a value that is not set is None. `pandas.DataFrame(rows)` accepts it.

        Raises:
            ValidationError: The request breaks a rule of the API specification; all problems are reported together.
                Promotion codes follow the rules of `search_codes` here too.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> who = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0002"])
            >>> rows = asyncio.run(client.search_items("customer", ["customer_id"], who))
            >>> [row["customer_id"] for row in rows]
            ['demo-customer-0001', 'demo-customer-0002']
        """
        arguments = item_arguments(
            item_type_name, attrs, where, item_type_id, attrs_format, limit, self.item_types, timeout, known_row_cap
        )
        with problem_values(arguments):
            return checked_rows(await self._raw.search_items_async(arguments))

    def scan_codes(
        self,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
        known_row_cap: int | None = None,
        on_suspected_cap: OnSuspectedCap = "warn",
        schema: Schema | None = None,
        values_per_request: int | None = None,
        ordered: bool = True,
        decode_status: bool = False,
        timeout: float | timedelta | None = None,
    ) -> AsyncScan:
        """Makes a lazy search of promotion codes, for columns, files, or more rows than fit into memory.

        The arguments are checked now. The requests are sent when the scan is used: one, or one for each day of
        `da.days(start, stop)` and for each part of a long list of values, up to `concurrency` of them at a time.

        Args:
            attrs: Names of the attributes to return, of `da.PROMOTION_CODE_ATTRIBUTES`; None is all but `channel_id`.
            allocated_time: `da.since(day)` (that day included), `da.after(t)` or `da.before(t)` (that day excluded),
                `da.on(day)`, `da.op(operator, t)`, or `da.days(start, stop)` for one request per day.
            audience_type: -1003 or "customer", -1007 or "visitor", or several. It needs `allocated_audience`:
                without it the service returns no rows.
            allocated_audience: One id of a customer or visitor, or several.
            code_status: 1 or "available", 3 or "sent", 4 or "used", or several.
            limit: Number of rows, at most. With a limit the requests are sent one after another.
            known_row_cap: A number of rows at which the service is known to cap responses: one with exactly so many is
                reported (`IncompleteWarning`). Without it, equal highest or round numbers of rows are.
            on_suspected_cap: What to do with responses that look capped: "warn" (`IncompleteWarning`), or "split": ask
                again in parts, by halves of lists or by status, until the numbers of rows are plausible, and warn of
                what cannot be split. All rows are then in memory before the first is returned, so not for `batches`.
            schema: Column types that override the defaults: a dict of attribute to "string", "int64", "float64",
                "bool", "timestamp" or "json", or to a type of Python, pandas, polars or pyarrow, or its name. A
                "float64" column holds the nearest float of a fraction, and an integer only if it is exact.
            values_per_request: Values of one list in one request, at most; default: 1,000. The API specification
                states no limit.
            ordered: Whether rows come in the order of the plan; otherwise as they arrive.
            decode_status: Whether the columns `code_status` and `audience_type` hold names ("used", "customer") in
                place of numbers. `to_dicts` and `to_jsonl` keep the numbers.
            timeout: Seconds, or a timedelta, for each request with its retries, not for the scan as a whole: a scan of
                many requests may take longer. It counts up to the first row of a response; from then on only a stall
                ends it. None is that of the client.

        Returns:
            A scan. Its columns are strings, but `pool_id`, `audience_type` and `code_status` are integers, and
            `date_created` and `allocated_time` timestamps without a zone. So is `last_used_time`, if every value is
            a time: otherwise a collected result has strings, and a stream or file raises an error.

        Raises:
            ValidationError: The request breaks a rule of the API specification, or `schema` is invalid; all problems
                are reported together.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"), code_status="used")
            >>> frame = asyncio.run(scan.to_pandas())
            >>> list(frame.columns)
            ['id', 'pool_id']
        """
        from dataaccess._scan.asynchronous.scan import AsyncScan

        arguments = code_arguments(
            attrs, allocated_time, audience_type, allocated_audience, code_status, limit, timeout, known_row_cap
        )
        arguments["values_per_request"] = values_per_request
        return AsyncScan(self, "scan_codes", arguments, schema, ordered, on_suspected_cap, decode_status)

    def scan_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        attrs_format: AttrsFormat = "array",
        limit: int | None = None,
        known_row_cap: int | None = None,
        on_suspected_cap: OnSuspectedCap = "warn",
        schema: Schema | None = None,
        values_per_request: int | None = None,
        ordered: bool = True,
        timeout: float | timedelta | None = None,
    ) -> AsyncScan:
        """Makes a lazy search of a business object, for columns, files, or more rows than fit into memory.

        The arguments are checked now. The requests are sent when the scan is used, up to `concurrency` at a time.

        Args:
            item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
            attrs: Names of the attributes to return.
            where: An expression of `da.col(name)`, or the raw filters `{"OR": [{"AND": […]}]}`. None: every record. In
                an expression without `|`, `.on(da.days(start, stop))` is one request per day.
            item_type_id: Id of the business object; not needed for customers, promotion codes and `item_types` of the
                client.
            attrs_format: "array" sends the names as an array, "string" as one comma-separated string: the API
                specification describes both. Promotion codes always take the array.
            limit: Number of rows, at most. With a limit the requests are sent one after another.
            known_row_cap: A number of rows at which the service is known to cap responses: one with exactly so many is
                reported (`IncompleteWarning`). Without it, equal highest or round numbers of rows are.
            on_suspected_cap: What to do with responses that look capped: "warn" (`IncompleteWarning`), or "split": ask
                again in parts, by halves of lists or by status, until the numbers of rows are plausible, and warn of
                what cannot be split. All rows are then in memory before the first is returned, so not for `batches`.
            schema: Column types that override inference: a dict of attribute to "string", "int64", "float64", "bool",
                "timestamp" or "json", or to a type of Python, pandas, polars or pyarrow, or its name. Types are
                inferred from all rows if they are collected, and from the first batch if they are streamed, where a
                later value of another type is an error.
            values_per_request: Values of one `matches` in one request, at most; default: 1,000. Conditions joined by
                `|` may overlap, so they stay in one request.
            ordered: Whether rows come in the order of the plan; otherwise as they arrive.
            timeout: Seconds, or a timedelta, for each request with its retries, not for the scan as a whole: a scan of
                many requests may take longer. It counts up to the first row of a response; from then on only a stall
                ends it. None is that of the client.

        Returns:
            A scan.

        Raises:
            ValidationError: The request breaks a rule of the API specification, or `schema` is invalid; all problems
                are reported together.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> who = da.col("customer_id").equals("demo-customer-0001")
            >>> scan = client.scan_items("customer", ["customer_id"], who)
            >>> asyncio.run(scan.to_polars())["customer_id"].to_list()
            ['demo-customer-0001']
        """
        from dataaccess._scan.asynchronous.scan import AsyncScan

        arguments = item_arguments(
            item_type_name, attrs, where, item_type_id, attrs_format, limit, self.item_types, timeout, known_row_cap
        )
        arguments["values_per_request"] = values_per_request
        return AsyncScan(self, "scan_items", arguments, schema, ordered, on_suspected_cap)

    async def download_segment(self, export_id: int, *, timeout: float | timedelta | None = None) -> SegmentStatus:
        """Downloads the status entries of a segment export.

        Args:
            export_id: Id of the export.
            timeout: Seconds, or a timedelta, for this call with its retries; None is that of the client.

        Returns:
            A dict with `entries` (a list of dicts; an entry that has ended has an `endTime`, and its `responseCode`
            says whether it succeeded), `meta`, and `code`, `message`, `codeMessage` and `duration` (such as `12ms`)
            of the envelope.

        Raises:
            ValidationError: `export_id` is not an integer.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> status = asyncio.run(client.download_segment(5637051))
            >>> status["meta"]["total"] == len(status["entries"])
            True
        """
        with problem_values({"export_id": export_id}):
            return checked_status(await self._raw.download_segment_async(export_id, call_timeout(timeout)))

    async def wait_for_segment(
        self,
        export_id: int,
        *,
        timeout: float | timedelta,
        poll: float | timedelta | None = None,
        on_update: OnUpdate | None = None,
        check: bool = True,
    ) -> SegmentStatus:
        """Waits until a segment export has entries and each of them has an `endTime`.

        Args:
            export_id: Id of the export.
            timeout: Seconds, or a timedelta, to wait at most.
            poll: Seconds between two requests; None starts at half a second and slows down to 15.
            on_update: Called with each response, in the form of the result, in the thread of the event loop.
            check: Whether an entry that failed is an error: one whose `responseCode` is set and not 200. Otherwise the
                entries are returned whatever they say.

        Returns:
            The last response, in the form of `download_segment`.

        Raises:
            ValidationError: `export_id` is not an integer.
            SegmentExportError: The export has ended, and an entry failed; `.entries` has all entries.
            WaitTimeoutError: The export has not ended in time; `.last` is the last response.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> status = asyncio.run(client.wait_for_segment(5637051, timeout=60))
            >>> all(entry["endTime"] for entry in status["entries"])
            True
        """
        limit, pause = seconds("timeout", timeout), None if poll is None else seconds("poll", poll)
        callback = update_callback(on_update)
        check = boolean_argument("check", check)
        with problem_values({"export_id": export_id}):
            outcome = await self._raw.wait_for_segment_async(export_id, limit, pause, callback)
        return ended(export_id, limit, outcome, check=check)

    async def check(self, day: Time | None = None, *, timeout: float | timedelta | None = None) -> ClientCheck:
        """Checks address, token, scopes and, with a day, the time zone. Changes nothing on the service.

        Sends a search that finds nothing and asks for the status of an export, each once. An error of the service is
        part of the result.

        Args:
            day: A day that has rows. They are read to see whether the service cuts its days in the time zone of the
                client.
            timeout: Seconds, or a timedelta, for all requests together; None is 30, or that of the client if it is
                less. What was not asked by then is not known.

        Returns:
            A `ClientCheck`; `print(check)` shows it in a few lines.

        Raises:
            ConfigError: `timeout` is not a positive number of seconds.
            ValidationError: `day` is not a day.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> check = asyncio.run(client.check("2024-01-15"))
            >>> check.is_ok, check.scopes, check.day
            (True, {'item': True, 'download': True}, 'the 73 rows of 2024-01-15 are of that day')
        """
        from dataaccess._client.findings import ANY_EXPORT, EMPTY_DAY, Findings
        from dataaccess.filters._comparison import on

        findings = Findings(self, timeout)
        raw = findings.raw
        if day is not None:
            # Before anything is sent.
            findings.scan_of(day)
        with findings.of("item"):
            await raw.search_codes_async(code_arguments(["id"], on(EMPTY_DAY), None, None, None, 1))
        if (left := findings.left()) is not None:
            with findings.of("download"):
                await raw.download_segment_async(ANY_EXPORT, left)
        if day is not None and (left := findings.left()) is not None:
            with findings.of("day"):
                table = await findings.scan_of(day, left).collect_async(None, views=False, on_progress=None)
                findings.add_day(day, table)
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
            timeout: Seconds, or a timedelta, for this call with its retries; None is that of the client.

        Returns:
            The whole envelope as a dict.

        Raises:
            ConfigError: The path leaves the base URL.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> body = {"scope": "download", "exportId": 5637051}
            >>> envelope = asyncio.run(client.post("/access/api/segment/download", body))
            >>> envelope["message"]
            'Success'
        """
        return await self._raw.post_async(path, body, idempotent, call_timeout(timeout))

    async def close(self) -> None:
        """Ends the calls in flight and refuses later ones. Closing twice has no effect.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.close())
        """
        self._raw.close()

    async def aclose(self) -> None:
        """Closes it, as `close`: the name that `contextlib.aclosing` calls.

        Example:
            >>> import asyncio
            >>> import contextlib
            >>> import dataaccess as da
            >>> async def main() -> int:
            ...     async with contextlib.aclosing(da.AsyncClient("sandbox:demo")) as client:
            ...         return len(await client.search_codes(allocated_time=da.on("2024-01-15"), limit=2))
            >>> asyncio.run(main())
            2
        """
        self._raw.close()

    async def __aenter__(self) -> Self:
        """The client itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the client."""
        await self.close()
