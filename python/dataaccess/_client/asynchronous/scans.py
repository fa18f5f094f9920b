"""Searches that return an asynchronous scan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dataaccess._client.base import BaseClient
from dataaccess._core.arguments import code_arguments, item_arguments
from dataaccess._core.tracebacks import short_tracebacks

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._scan.asynchronous.scan import AsyncScan
    from dataaccess._types import (
        Attributes,
        AttrsFormat,
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        ItemTypeName,
        OnSuspectedCap,
        Schema,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )


@short_tracebacks
class AsyncScans(BaseClient):
    """Searches whose rows are columns, files or batches."""

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
            allocated_time: `da.since(day)` or `da.until(day)` (that day included), `da.after(t)` or `da.before(t)`
                (that day excluded), `da.on(day)`, `da.yesterday()`, `da.op(operator, t)`, or `da.days(start, stop)`,
                `da.month(text)` or `da.last_days(count)` for one request per day.
            audience_type: -1003 or "customer", -1007 or "visitor", or several. It needs `allocated_audience`:
                without it the service returns no rows.
            allocated_audience: One id of a customer or visitor, or several; an integer is sent as a string.
            code_status: 1 or "available", 3 or "sent", 4 or "used", or several: the status that a code has now. The
                API specification does not show which status follows which.
            limit: Number of rows, at most. With a limit the requests are sent one after another.
            known_row_cap: A number of rows at which the service is known to cap responses: a response of that size
                is reported (`IncompleteWarning`). None is the client's. Without either, equal highest or round
                numbers of rows are.
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
                frames, files and folders: a category of pandas, an Enum of polars, a dictionary of Arrow.
                Dicts keep the numbers, which are those of `da.CodeStatus`.
            timeout: Seconds, or a timedelta, for each request with its retries, not for the scan as a whole: a scan of
                many requests may take longer. It counts up to the first row of a response; from then on only a stall
                ends it. None is the client's.

        Returns:
            A scan. Its columns are strings, but `pool_id`, `audience_type` and `code_status` are integers, and
            `date_created` and `allocated_time` timestamps without a zone. So is `last_used_time`, if every value is
            a time: otherwise a collected result has strings, and a stream or file raises an error.

        Raises:
            ValidationError: The request breaks a rule of the API specification, or `schema` is invalid; all problems
                are reported together.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"), code_status="used")
            >>> frame = await scan.to_pandas()
            >>> list(frame.columns)
            ['id', 'pool_id']
        """
        from dataaccess._scan.asynchronous.scan import AsyncScan

        arguments = code_arguments(
            attrs,
            allocated_time,
            audience_type,
            allocated_audience,
            code_status,
            limit,
            timeout,
            self._cap(known_row_cap),
        )
        arguments["values_per_request"] = values_per_request
        scan = AsyncScan(self, "scan_codes", arguments, schema, ordered, on_suspected_cap, decode_status)
        self._note_days()
        return scan

    def scan_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        attrs_format: AttrsFormat | None = None,
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
            where: An expression of `da.col(name)`, or the raw filters `{"OR": [{"AND": […]}]}`. None: no condition. In
                an expression without `|`, `.on(da.days(start, stop))` is one request per day.
            item_type_id: Id of the business object; not needed for customers, promotion codes and `item_types` of the
                client.
            attrs_format: "array" sends the names as an array, "string" as one comma-separated string: the API
                specification describes both. None is the client's. Promotion codes always take the array.
            limit: Number of rows, at most. With a limit the requests are sent one after another.
            known_row_cap: A number of rows at which the service is known to cap responses: a response of that size
                is reported (`IncompleteWarning`). None is the client's. Without either, equal highest or round
                numbers of rows are.
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
                ends it. None is the client's.

        Returns:
            A scan.

        Raises:
            ValidationError: The request breaks a rule of the API specification, or `schema` is invalid; all problems
                are reported together.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> who = da.col("customer_id").equals("demo-customer-0001")
            >>> scan = client.scan_items("customer", ["customer_id"], who)
            >>> customers = await scan.to_polars()
            >>> customers["customer_id"].to_list()
            ['demo-customer-0001']
        """
        from dataaccess._scan.asynchronous.scan import AsyncScan

        arguments = item_arguments(
            item_type_name,
            attrs,
            where,
            item_type_id,
            attrs_format,
            limit,
            self.item_types,
            timeout,
            self._cap(known_row_cap),
            usual_format=self._setting("attrs_format"),
        )
        arguments["values_per_request"] = values_per_request
        scan = AsyncScan(self, "scan_items", arguments, schema, ordered, on_suspected_cap)
        self._note_days(partial(scan._raw.body, 0))
        return scan
