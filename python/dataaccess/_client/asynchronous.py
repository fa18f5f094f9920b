"""`AsyncClient`: the calls of the document, awaited. Names and arguments are those of `Client`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from dataaccess._client.base import Connection
from dataaccess._client.results import checked_entries, checked_rows, ended, told
from dataaccess._core.arguments import code_arguments, item_arguments, seconds
from dataaccess._scan.synchronous.scan import AsyncScan

if TYPE_CHECKING:
    from datetime import timedelta
    from types import TracebackType

    from dataaccess.types import Attributes, OnUpdate, Row, Schema, TimeCondition, ValuesOrOperator, Where


class AsyncClient(Connection):
    """A client of the Data Access API for asyncio. The arguments are those of `Client`.

    It belongs to no event loop: one client may serve several, one after another or at once.

    Raises:
        ConfigError: For a setting that cannot be used, or a missing address or token.

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
        attrs: Attributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: ValuesOrOperator | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: ValuesOrOperator | None = None,
        limit: int | None = None,
    ) -> list[Row]:
        """Searches promotion codes (section 4.2). The token needs the scope `item`.

        Args:
            attrs: Names of attributes of section 2.2; None is all but `channel_id`.
            allocated_time: `da.after(t)`, `da.before(t)`, `da.on(day)` or `da.op(operator, t)`.
            audience_type: -1003 or "customer", -1007 or "visitor", or several. It needs
                `allocated_audience`, or the service would silently answer nothing.
            allocated_audience: One id of a customer or visitor, or several.
            code_status: 1 or "available", 3 or "sent", 4 or "used", or several.
            limit: The most records to return; the rest is not transferred where that is safe.

        Returns:
            A list of dicts with the attributes as keys in the order of `attrs`, and the values as they
            are on the wire; an unset one is None. `pandas.DataFrame(rows)` takes it.

        Raises:
            ValidationError: The request breaks a rule of the document; all problems at once.
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> search = client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
            >>> len(asyncio.run(search))
            1
        """
        arguments = code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return checked_rows(await self._raw.search_codes_async(arguments))

    async def search_items(
        self,
        item_type_name: str,
        attrs: Attributes,
        where: Where,
        *,
        item_type_id: int | None = None,
        attrs_as: str = "array",
        limit: int | None = None,
    ) -> list[Row]:
        """Searches the items of any business object (section 4.1).

        Args:
            item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
            attrs: Names of the attributes to return.
            where: An expression of `da.col(name)`, or the document's `{"OR": [{"AND": […]}]}`.
            item_type_id: Identifier of the object; customers and promotion codes need none.
            attrs_as: "array" sends the names as an array, "text" as one text with commas: section 4.1
                calls the field both. Promotion codes always take the array.
            limit: The most records to return.

        Returns:
            A list of dicts, as `search_codes`.

        Raises:
            ValidationError: The request breaks a rule of the document; all problems at once. Promotion
                codes keep the rules of section 4.2 here too.
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> who = da.col("customer_id").matches(["demo-customer-0001"])
            >>> asyncio.run(client.search_items("customer", ["customer_id"], who))
            [{'customer_id': 'demo-customer-0001'}]
        """
        arguments = item_arguments(item_type_name, attrs, where, item_type_id, attrs_as, limit)
        return checked_rows(await self._raw.search_items_async(arguments))

    def scan_codes(
        self,
        attrs: Attributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: ValuesOrOperator | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: ValuesOrOperator | None = None,
        limit: int | None = None,
        schema: Schema | None = None,
        chunk: int | None = None,
        ordered: bool = True,
    ) -> AsyncScan:
        """A search of promotion codes in columns: streamed, or as a table of pandas, polars or pyarrow.

        The arguments are checked now; requests are sent when the scan is used: one, or one for each day of
        `da.days(start, stop)` and for each part of a long list of ids, of which as many as the client's `concurrency`
        are under way at a time.

        Args:
            attrs: As for `search_codes`.
            allocated_time: As for `search_codes`, or `da.days(start, stop)`: a request a day.
            audience_type: As for `search_codes`.
            allocated_audience: As for `search_codes`.
            code_status: As for `search_codes`.
            limit: As for `search_codes`. With a limit requests are sent one after the other.
            schema: Types of columns that are to be others than usual: a dict of attribute to "string", "int64",
                "float64", "bool", "timestamp" or "json". A "float64" is the nearest one to a fraction, and takes
                whole numbers only if it holds them exactly.
            chunk: The most values of one list in one request; 1,000 without. The document tells no maximum.
            ordered: Whether rows come in the order of the requests; otherwise as they arrive.

        Returns:
            A scan. Its columns are text, but `pool_id`, `audience_type` and `code_status` are whole numbers,
            `date_created` and `allocated_time` times without a zone.

        Raises:
            ValidationError: The request breaks a rule of the document, or `schema` has no such attribute or type;
                all problems at once.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"), code_status="used")
            >>> frame = asyncio.run(scan.to_pandas())
            >>> list(frame.columns)
            ['id', 'pool_id']
        """
        arguments = code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return AsyncScan(self, "scan_codes", {**arguments, "chunk": chunk}, schema, ordered)

    def scan_items(
        self,
        item_type_name: str,
        attrs: Attributes,
        where: Where,
        *,
        item_type_id: int | None = None,
        attrs_as: str = "array",
        limit: int | None = None,
        schema: Schema | None = None,
        chunk: int | None = None,
        ordered: bool = True,
    ) -> AsyncScan:
        """A search of any business object in columns, as `scan_codes`.

        Args:
            item_type_name: As for `search_items`.
            attrs: As for `search_items`.
            where: As for `search_items`.
            item_type_id: As for `search_items`.
            attrs_as: As for `search_items`.
            limit: As for `search_items`.
            schema: As for `scan_codes`. Without it types follow the values: of all rows when they are collected, of
                the first batch when they are streamed, where a later value of another type is an error.
            chunk: As for `scan_codes`: of each `matches` of a `where` without `|`, where `.on(da.days(start, stop))`
                is a request a day as well. Groups joined by `|` may overlap, so they stay one request.
            ordered: As for `scan_codes`.

        Returns:
            A scan.

        Raises:
            ValidationError: The request breaks a rule of the document, or `schema` has no such attribute or type;
                all problems at once.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> who = da.col("customer_id").equals("demo-customer-0001")
            >>> scan = client.scan_items("customer", ["customer_id"], who)
            >>> asyncio.run(scan.to_polars())["customer_id"].to_list()
            ['demo-customer-0001']
        """
        arguments = item_arguments(item_type_name, attrs, where, item_type_id, attrs_as, limit)
        return AsyncScan(self, "scan_items", {**arguments, "chunk": chunk}, schema, ordered)

    async def download_segment(self, export_id: int) -> dict[str, Any]:
        """Downloads the status entries of a segment export (section 4.3).

        Args:
            export_id: Identifier of the export.

        Returns:
            A dict with `entries` (list of dicts of section 2.5; an ended entry has an `endTime`, and its
            `responseCode` tells whether it went well), `meta`, and the envelope's `code`,
            `message`, `codeMessage` and `duration` (a text as `12ms`).

        Raises:
            ValidationError: `export_id` is not a whole number.
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> status = asyncio.run(da.AsyncClient("sandbox:demo").download_segment(5637051))
            >>> status["meta"]["total"] == len(status["entries"])
            True
        """
        return checked_entries(await self._raw.download_segment_async(export_id))

    async def wait_for_segment(
        self,
        export_id: int,
        *,
        timeout: float | timedelta,
        poll: float | timedelta | None = None,
        on_update: OnUpdate | None = None,
    ) -> dict[str, Any]:
        """Waits until an export has entries and each has an `endTime` (sections 2.5 and 3.2).

        Args:
            export_id: Identifier of the export.
            timeout: Seconds, or a timedelta, to wait at most.
            poll: Seconds between two looks; None begins at half a second and slows down to 15.
            on_update: Called with each answer that is not the last, in the same form, in the loop's thread.

        Returns:
            The last answer, as `download_segment`.

        Raises:
            WaitTimeoutError: The export has not ended in time; `.last` is the last answer.
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> waiting = da.AsyncClient("sandbox:demo").wait_for_segment(5637051, timeout=60)
            >>> all(entry["endTime"] for entry in asyncio.run(waiting)["entries"])
            True
        """
        limit, pause = seconds(timeout), None if poll is None else seconds(poll)
        outcome = await self._raw.wait_for_segment_async(export_id, limit, pause, told(on_update))
        return ended(export_id, limit, outcome)

    async def call(self, path: str, body: object, *, idempotent: bool = False) -> dict[str, Any]:
        """Sends what the document does not show: the way out.

        Args:
            path: Below the base URL, as `/access/api/item/search`.
            body: Anything `json.dumps` takes.
            idempotent: Whether the request may be sent twice. If not, it is sent again only when
                nothing can have left this machine.

        Returns:
            The whole envelope as a dict.

        Raises:
            ConfigError: The path does not stay below the base URL.
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> body = {"scope": "download", "exportId": 5637051}
            >>> call = da.AsyncClient("sandbox:demo").call("/access/api/segment/download", body)
            >>> asyncio.run(call)["message"]
            'Success'
        """
        return await self._raw.call_async(path, body, idempotent)

    async def close(self) -> None:
        """Ends the calls under way and refuses later ones. Closing twice is closing once.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> asyncio.run(da.AsyncClient("sandbox:demo").close())
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
