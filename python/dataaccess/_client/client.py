"""`Client`: the calls of the service."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from dataaccess._client.base import BaseClient
from dataaccess._client.segment import OnUpdate, SegmentStatus, Wait, downloaded
from dataaccess._core.checks import call_timeout
from dataaccess._core.embedded import warn_of_service
from dataaccess._core.progress import follow
from dataaccess._core.secret import Secret
from dataaccess._public import public

if TYPE_CHECKING:
    from dataaccess._client.answers import ClientCheck
    from dataaccess._scan.scan import Scan
    from dataaccess._types import (
        Attributes,
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        ItemTypeName,
        OnSuspectedCap,
        Row,
        Schema,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )
    from dataaccess.filters import Time
    from dataaccess.reports import ProgressArgument


@public
class Client(BaseClient):
    """A client of the Data Access API that blocks. Threads may share it, and it works on after a fork.

    Its calls log to `dataaccess.request` (`DEBUG`, start and end of an attempt) and `dataaccess.retry` (`WARNING`).

    Each call raises `ValidationError` if the request breaks the API specification (all problems are reported, nothing
    was sent), `PermissionDeniedError` if the token was refused, and else another error of `dataaccess.errors`.

    Args:
        base_url: Address of the service, such as `https://cdp.example.com`; default: `DATAACCESS_BASE_URL`.
            `sandbox:demo` is the sandbox with demo data of the 60 days up to yesterday: no account, no network.
            `sandbox:demo?until=2024-02-29` has the days up to that one.
        token: A string, or a callable that returns a string or `(string, expires_at)`; default:
            `DATAACCESS_TOKEN`, but only for the service of `DATAACCESS_BASE_URL` or of the profile, if one of them
            names an address. A string is used until the service refuses it, an expiring one is renewed five minutes
            early. A coroutine function runs in an event loop of its own. `da.token_file(path)` makes a callable.
            `sandbox:demo` has its own token and ignores this one.
        profile: Name of a profile with settings that neither arguments nor the environment have; default:
            `DATAACCESS_PROFILE`, or `default` if nothing else has an address. A sandbox uses only a profile given here.
        timezone: The zone in which days begin, and of times that you give without one: an IANA name or a `ZoneInfo`.
            If it is set, in whatever way, it is the zone of results too: see `tz` of `Scan.collect`.
        source_timezone: The zone of the times in records, which have none: an IANA name or a `ZoneInfo`. A time that a
            clock change repeats is read as the earlier one, a time that it skips as the first one after it.
        day_comparison: What the service does with the day of `after_date` and `before_date`, which the API
            specification leaves open: "exclusive" if it excludes that day or compares instants, "inclusive" if it
            includes it. `da.since`, `da.until`, `da.after`, `da.before` and `between` send what gives their rows.
        code_value_type: "normal" sends `"value_type": "normal"` in each condition of promotion codes; None sends none.
            The API specification contradicts itself here; `check` finds out whether the service requires one.
        timeout: Seconds, or a timedelta, for a whole call with its retries. Each request of batches, files and scans of
            several requests has it for all its attempts, up to its first row; from then on a stall ends it.
        retry_for: Seconds, or a timedelta, to retry for after the first failure, without time in which rows arrive; 0
            sends once. Unless given, a call to a service that never responded and cannot be reached ends after 4 s.
        concurrency: Requests of this client in flight at a time, over all calls and scans; None: no limit.
        requests_per_second: Requests per second, at most, over all users of this client.
        max_result_bytes: Memory that the result of a call, such as a list of rows or a table, may take; None: half of
            the memory of this machine or container. Batches and files need little memory, and have no such limit.
        ca_bundle: PEM file, or folder of them, with the CAs to trust instead of the system's; default:
            `DATAACCESS_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR`, or `REQUESTS_CA_BUNDLE`.
        proxy: Address of a proxy; default: the proxy of the environment, but never for this machine.
        allow_http: Whether plain http may leave this machine.
        headers: More headers for each request. `Accept-Encoding` sets how responses may be compressed: any of
            `gzip`, `zstd` and `identity`, without weights; default: `gzip, zstd`. On a fast network `identity` can
            be faster. A client with a header that looks like a secret, such as `X-Api-Key`, does not pickle.
        user_agent: Your program, such as "nightly-job/3": the end of `User-Agent`, behind package, Python and platform.
        item_types: Your business objects: `{"store": 7}`, or `{"store": {"id": 7, "attributes": {"opened":
            "timestamp"}}}`. Calls then need no `item_type_id`, attributes are checked, and columns have their types.
        attrs_format: How searches of other objects than promotion codes send `attrs`: "array", or "string" with commas.
        known_row_cap: Rows at which the service caps responses: one with exactly so many is an `IncompleteWarning`.
        record: File to record the exchanges into, without the token: requests, and responses with their customer data.
            It is made, readable by its owner only, or continued. `Sandbox.replay(path)` serves it.

    Raises:
        ConfigError: Settings are invalid or missing, all reported together; or the profile cannot be read.

    Examples:
        >>> import dataaccess as da
        >>> with da.Client("sandbox:demo?until=2024-02-29") as client:
        ...     rows = client.search_codes(allocated_time=da.on("2024-01-15"), limit=2)
        >>> len(rows)
        2
    """

    def search_codes(
        self,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Row]:
        """Searches promotion codes and returns the rows as dicts. The token needs the scope `item`.

        Args:
            attrs: Names of the attributes to return, of `da.PROMOTION_CODE_ATTRIBUTES`; None is all but `channel_id`.
            allocated_time: `da.since(day)` or `da.until(day)` (that day included), `da.after(t)` or `da.before(t)`
                (that day excluded), `da.on(day)`, `da.yesterday()`, `da.op(operator, t)`, or `da.days(start, stop)`,
                `da.month(text)` or `da.last_days(count)` for one request per day, with rows in the order of days.
            audience_type: -1003 or "customer", -1007 or "visitor", or several; only with `allocated_audience`.
            allocated_audience: One id of a customer or visitor, or several; an integer is sent as a string.
            code_status: The status that a code has now: 1 or "available", 3 or "sent", 4 or "used", or several.
            limit: Number of rows, at most. The rest of the response is not transferred where that is safe.
            timeout: Seconds, or a timedelta, for the whole call, with all its days and retries; None is the client's.

        Returns:
            A list of dicts with the attributes as keys, in the order of `attrs`, and the values as the service sends
            them; a value that is not set is None. `pandas.DataFrame(rows)` accepts it.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> condition = da.after("2024-01-31")
            >>> rows = client.search_codes(["code_status"], allocated_time=condition, code_status="used")
            >>> rows[0]
            {'code_status': 4}
        """
        given = attrs, allocated_time, audience_type, allocated_audience, code_status, limit
        arguments = self._code_arguments(*given, timeout)
        return self._rows(self._raw.search("search_codes", arguments, wait=True))

    def search_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Row]:
        """Searches the items of a business object and returns the rows as dicts.

        Promotion codes follow the rules of `search_codes` here too.

        Args:
            item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
            attrs: Names of the attributes to return.
            where: An expression of `da.col(name)`, or the raw filters `{"OR": [{"AND": […]}]}`. None: no condition.
            item_type_id: Id of the object; not needed for customers, promotion codes and `item_types` of the client.
            limit: Number of rows, at most. The rest of the response is not transferred where that is safe.
            timeout: Seconds, or a timedelta, for this call with its retries; None is the client's.

        Returns:
            A list of dicts, as `search_codes` returns it.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> who = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0002"])
            >>> rows = client.search_items("customer", ["customer_id"], who)
            >>> [row["customer_id"] for row in rows]
            ['demo-customer-0001', 'demo-customer-0002']
        """
        arguments = self._item_arguments(item_type_name, attrs, where, item_type_id, limit, timeout)
        return self._rows(self._raw.search("search_items", arguments, wait=True), arguments)

    def scan_codes(
        self,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
        on_suspected_cap: OnSuspectedCap = "warn",
        schema: Schema | None = None,
        decode_status: bool = False,
    ) -> Scan:
        """Makes a lazy search of promotion codes, for columns, files, or more rows than fit into memory.

        The arguments are checked now. The requests are sent when the scan is used: one, or one for each day of
        `da.days(start, stop)` and for each part of a long list of values, up to `concurrency` of them at a time.

        Args:
            attrs: Names of the attributes to return, of `da.PROMOTION_CODE_ATTRIBUTES`; None is all but `channel_id`.
            allocated_time: As in `search_codes`. A scan sends one request for each day of `da.days(start, stop)`.
            audience_type: -1003 or "customer", -1007 or "visitor", or several; only with `allocated_audience`.
            allocated_audience: One id of a customer or visitor, or several; an integer is sent as a string.
            code_status: The status that a code has now: 1 or "available", 3 or "sent", 4 or "used", or several.
            limit: Number of rows, at most. With a limit the requests are sent one after another.
            on_suspected_cap: What to do with responses that look capped: "warn" (`IncompleteWarning`), or "split": ask
                again in parts, by halves of lists or by status, until the numbers of rows are plausible, and warn of
                what cannot be split. All rows are then in memory before the first is returned, so not for `batches`.
            schema: Column types that override the defaults: a dict of attribute to "string", "int64", "float64",
                "bool", "timestamp" or "json", or to a type of Python, pandas, polars or pyarrow, or its name. A
                "float64" column holds the nearest float of a fraction, and an integer only if it is exact.
            decode_status: Whether the columns `code_status` and `audience_type` hold names ("used", "customer") in
                frames, files and folders: a category of pandas, an Enum of polars, a dictionary of Arrow.
                Compare them with "used": `da.CodeStatus.USED` equals numbers only. Dicts keep the numbers.

        Returns:
            A scan. Its columns are strings, but `pool_id`, `audience_type` and `code_status` are integers, and
            `date_created`, `allocated_time` and `last_used_time` timestamps without a zone.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"), code_status="used")
            >>> frame = scan.to_pandas()
            >>> list(frame.columns)
            ['id', 'pool_id']
        """
        from dataaccess._scan.scan import Scan  # many modules, and a client may send searches only

        arguments = self._code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return Scan(self, "scan_codes", arguments, schema, on_suspected_cap, decode_status)

    def scan_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        limit: int | None = None,
        on_suspected_cap: OnSuspectedCap = "warn",
        schema: Schema | None = None,
    ) -> Scan:
        """Makes a lazy search of a business object, for columns, files, or more rows than fit into memory.

        The arguments are checked now. The requests are sent when the scan is used, up to `concurrency` at a time.

        Args:
            item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
            attrs: Names of the attributes to return.
            where: An expression of `da.col(name)`, or the raw filters `{"OR": [{"AND": […]}]}`. None: no condition. In
                an expression without `|`, `.on(da.days(start, stop))` is one request per day.
            item_type_id: Id of the object; not needed for customers, promotion codes and `item_types` of the client.
            limit: Number of rows, at most. With a limit the requests are sent one after another.
            on_suspected_cap: As in `scan_codes`.
            schema: Column types that override inference: a dict of attribute to "string", "int64", "float64", "bool",
                "timestamp" or "json", or to another type as in `scan_codes`. Types are inferred from all rows if they
                are collected, else from the first batch, where a later value of another type is an error.

        Returns:
            A scan.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> who = da.col("customer_id").equals("demo-customer-0001")
            >>> scan = client.scan_items("customer", ["customer_id"], who)
            >>> customers = scan.to_polars()
            >>> customers["customer_id"].to_list()
            ['demo-customer-0001']
        """
        from dataaccess._scan.scan import Scan  # as in `scan_codes`

        arguments = self._item_arguments(item_type_name, attrs, where, item_type_id, limit)
        return Scan(self, "scan_items", arguments, schema, on_suspected_cap)

    def download_segment(self, export_id: int, *, timeout: float | timedelta | None = None) -> SegmentStatus:
        """Downloads the status entries of a segment export. The members of the segment are not in the API.

        Args:
            export_id: Id of the export.
            timeout: Seconds, or a timedelta, for this call with its retries; None is the client's.

        Returns:
            A dict with `entries` (dicts; one with an `endTime` has ended; which `responseCode` is a success is not
            specified), `meta`, and the other members of the envelope. `is_finished` is whether each entry has ended.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> status = client.download_segment(5637051)
            >>> status["meta"]["total"] == len(status["entries"])
            True
            >>> status.is_finished
            True
        """
        return downloaded(self._raw.download_segment(export_id, call_timeout(timeout), wait=True), export_id)

    def wait_for_segment(
        self,
        export_id: int,
        *,
        timeout: float | timedelta,
        poll: float | timedelta | None = None,
        on_update: OnUpdate | None = None,
        progress: ProgressArgument = None,
        check: bool = True,
        success_codes: Collection[int | str] = (200,),
    ) -> SegmentStatus:
        """Waits until a segment export has entries and each of them has an `endTime`, or one of them has failed.

        A blank `endTime`, and one before the `startTime`, is no end: the wait goes on and warns once.

        Args:
            export_id: Id of the export.
            timeout: Seconds, or a timedelta, to wait at most.
            poll: Seconds between two requests; None starts at half a second and slows down to 15.
            on_update: Called with each response, in the form of the result, in the calling thread.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` with each response, in the calling thread.
            check: Whether an entry that failed ends the wait with an error. Otherwise the wait goes on until all ended.
            success_codes: Each `responseCode` of success. An entry that ended with another code, if it has one, failed.

        Returns:
            The last response, in the form of `download_segment`.

        Raises:
            SegmentExportError: An entry failed; `.entries` has all entries.
            WaitTimeoutError: The export has not ended in time; `.last` is the last response.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> status = client.wait_for_segment(5637051, timeout=60)
            >>> all(entry["endTime"] for entry in status["entries"])
            True
        """
        wait = Wait(self._raw, export_id, timeout, poll, on_update, check, success_codes)
        with follow(progress, f"export {export_id}", lambda: wait.progress) as wait.report:
            while not wait.is_over:
                with wait.attempt():
                    wait.response = self._raw.download_segment(*wait.arguments, polls=True, wait=True)
                for name, coroutine in wait.updates():
                    coroutine.close()
                    raise TypeError(f"{name} is a coroutine function, which only AsyncClient can await")
                if seconds := wait.pause():
                    self._raw.pause(seconds, wait=True)
        return wait.ended()

    def validate_codes(
        self: BaseClient,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Checks the arguments of `search_codes` and returns the request body. Sends nothing.

        Args:
            attrs: As in `search_codes`.
            allocated_time: As in `search_codes`.
            audience_type: As in `search_codes`.
            allocated_audience: As in `search_codes`.
            code_status: As in `search_codes`.
            limit: As in `search_codes`.

        Returns:
            The body of the request, as a dict.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> body = client.validate_codes(allocated_time=da.on("2024-01-15"))
            >>> body["filters"]["OR"][0]["AND"][0]["value"]
            1705276800000
        """
        arguments = self._code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return self._raw.validate("validate_codes", arguments)

    def validate_items(
        self: BaseClient,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Checks the arguments of `search_items` and returns the request body. Sends nothing.

        Args:
            item_type_name: As in `search_items`.
            attrs: As in `search_items`.
            where: As in `search_items`.
            item_type_id: As in `search_items`.
            limit: As in `search_items`.

        Returns:
            The body of the request, as a dict.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> body = client.validate_items("customer", ["name"], da.col("name").equals("x"))
            >>> body["itemTypeId"]
            -1003
        """
        arguments = self._item_arguments(item_type_name, attrs, where, item_type_id, limit)
        return self._raw.validate("validate_items", arguments)

    def check(
        self, day: Time | None = None, export_id: int | None = None, *, timeout: float | timedelta | None = None
    ) -> ClientCheck:
        """Finds out what the service says to this client, and which settings fit it. Changes nothing there.

        Sends at most 20 requests, each once. Their failures are part of the result. Without a day they are three or
        four: a search that finds nothing, the status of an export, and a search of one customer.

        Args:
            day: A day that is over and has codes of customers, better many than few. Searches find where that day
                ends: the instant that they send moves until the rows of the next day come. So the zone of days is
                found whichever zone times in records have, which is then read from the rows. More searches find how
                days are compared, and whether responses are cut off.
            export_id: A segment export that has ended.
            timeout: Seconds, or a timedelta, for all requests together. None is the client's `timeout`; without a day
                it is 30 seconds, if that is less.

        Returns:
            A `ClientCheck`; `print(check)` shows it, a line an answer.

        Raises:
            ConfigError: `timeout` is not a positive number of seconds.
            ValidationError: `day` is not a day.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> check = client.check("2024-01-15")
            >>> check.is_ok, check.settings["timezone"], check.answers["scope download"].state
            (True, 'UTC', 'reading')
        """
        from dataaccess._client.check import Check  # few programs check their client

        check = Check(self, day, export_id, timeout, wait=True)
        with suppress(StopIteration):
            check.run().send(None)
        return check.result()

    def post(
        self, path: str, body: object, *, idempotent: bool = False, timeout: float | timedelta | None = None
    ) -> dict[str, Any]:
        """POSTs any JSON body to a path below `base_url`: the escape hatch for what the API specification lacks.

        Args:
            path: A path such as `/access/api/item/search`.
            body: Anything `json.dumps` accepts.
            idempotent: Whether the request may be sent twice. Otherwise it is retried only if nothing was sent.
            timeout: Seconds, or a timedelta, for this call with its retries; None is the client's.

        Returns:
            The whole envelope as a dict.

        Raises:
            ConfigError: The path leaves the base URL.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> body = {"scope": "download", "exportId": 5637051}
            >>> envelope = client.post("/access/api/segment/download", body)
            >>> envelope["message"]
            'Success'
        """
        body = Secret(body)
        envelope: dict[str, Any] = self._raw.post(path, body.value, idempotent, call_timeout(timeout), wait=True)
        warn_of_service()
        return envelope

    def close(self) -> None:
        """Ends the calls in flight and refuses later ones. Closing twice has no effect.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.close()
        """
        self._raw.close()

    def __enter__(self) -> Self:
        """Returns the client."""
        return self

    def __exit__(self, *error: object) -> None:
        """Closes the client."""
        self.close()
