"""`AsyncClient`: the calls of `Client`, awaited. `Client` has their documentation."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from dataaccess._client.base import BaseClient
from dataaccess._client.client import Client
from dataaccess._client.segment import OnUpdate, SegmentStatus, Wait, downloaded
from dataaccess._core.checks import call_timeout
from dataaccess._core.embedded import warn_of_service
from dataaccess._core.progress import follow
from dataaccess._core.secret import Secret
from dataaccess._public import public

if TYPE_CHECKING:
    from dataaccess._client.answers import ClientCheck
    from dataaccess._scan.asynchronous import AsyncScan
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
class AsyncClient(BaseClient):
    """A client of the Data Access API for asyncio: the calls of `Client` with the same arguments, awaited.

    Several event loops may use it, one after another or at once. Functions such as `on_update` are called in the thread
    of the event loop, and may be coroutine functions.

    Examples:
        >>> import dataaccess as da
        >>> async with da.AsyncClient("sandbox:demo?until=2024-02-29") as client:
        ...     rows = await client.search_codes(allocated_time=da.on("2024-01-15"), limit=2)
        >>> len(rows)
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
    ) -> list[Row]:
        """As `Client.search_codes`, awaited."""
        given = attrs, allocated_time, audience_type, allocated_audience, code_status, limit
        arguments = self._code_arguments(*given, timeout)
        return self._rows(await self._raw.search("search_codes", arguments, wait=False))

    async def search_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> list[Row]:
        """As `Client.search_items`, awaited."""
        arguments = self._item_arguments(item_type_name, attrs, where, item_type_id, limit, timeout)
        return self._rows(await self._raw.search("search_items", arguments, wait=False), arguments)

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
    ) -> AsyncScan:
        """As `Client.scan_codes`: makes a scan whose uses are awaited."""
        from dataaccess._scan.asynchronous import AsyncScan  # as in `Client`

        arguments = self._code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return AsyncScan(self, "scan_codes", arguments, schema, on_suspected_cap, decode_status)

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
    ) -> AsyncScan:
        """As `Client.scan_items`: makes a scan whose uses are awaited."""
        from dataaccess._scan.asynchronous import AsyncScan  # as in `Client`

        arguments = self._item_arguments(item_type_name, attrs, where, item_type_id, limit)
        return AsyncScan(self, "scan_items", arguments, schema, on_suspected_cap)

    async def download_segment(self, export_id: int, *, timeout: float | timedelta | None = None) -> SegmentStatus:
        """As `Client.download_segment`, awaited."""
        response = await self._raw.download_segment(export_id, call_timeout(timeout), wait=False)
        return downloaded(response, export_id)

    async def wait_for_segment(
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
        """As `Client.wait_for_segment`, awaited."""
        wait = Wait(self._raw, export_id, timeout, poll, on_update, check, success_codes)
        with follow(progress, f"export {export_id}", lambda: wait.progress) as wait.report:
            while not wait.is_over:
                with wait.attempt():
                    wait.response = await self._raw.download_segment(*wait.arguments, polls=True, wait=False)
                for _, coroutine in wait.updates():
                    await coroutine
                if seconds := wait.pause():
                    await self._raw.pause(seconds, wait=False)
        return wait.ended()

    # These wait for nothing.
    validate_codes = Client.validate_codes
    validate_items = Client.validate_items

    async def check(
        self, day: Time | None = None, export_id: int | None = None, *, timeout: float | timedelta | None = None
    ) -> ClientCheck:
        """As `Client.check`, awaited."""
        from dataaccess._client.check import Check  # as in `Client`

        check = Check(self, day, export_id, timeout, wait=False)
        await check.run()
        return check.result()

    async def post(
        self, path: str, body: object, *, idempotent: bool = False, timeout: float | timedelta | None = None
    ) -> dict[str, Any]:
        """As `Client.post`, awaited."""
        body = Secret(body)
        envelope: dict[str, Any] = await self._raw.post(path, body.value, idempotent, call_timeout(timeout), wait=False)
        warn_of_service()
        return envelope

    async def close(self) -> None:
        """As `Client.close`, awaited."""
        self._raw.close()

    # `contextlib.aclosing` calls it.
    aclose = close

    async def __aenter__(self) -> Self:
        """Returns the client."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Closes the client."""
        await self.close()
