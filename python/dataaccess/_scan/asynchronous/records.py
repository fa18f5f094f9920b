"""The rows of an asynchronous scan or task as Python objects, and their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.asynchronous.reading import AsyncReading
from dataaccess._scan.variants import convert_async

if TYPE_CHECKING:
    from dataaccess._types import ResultZone, Row
    from dataaccess.reports import ProgressArgument


@short_tracebacks
class AsyncRecords(AsyncReading):
    """Methods that return Python objects. Each use sends the requests anew."""

    async def to_pylist(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> list[Row]:
        """Returns all rows as dicts with the values of the columns: `Table.to_pylist` of what `collect` returns.

        `to_dicts` returns the values as the service sends them.

        Args:
            tz: Time zone of the timestamps: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if you
                gave it one. None leaves times as the service wrote them, without a zone.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.

        Returns:
            A list of dicts; a timestamp is a `datetime`.

        Raises:
            DataAccessError: Any failure of `collect`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> rows = await client.scan_codes(["date_created"], allocated_time=da.on("2024-01-15")).to_pylist()
            >>> rows[0]
            {'date_created': datetime.datetime(2023, 12, ...)}
        """
        table = await self.collect(tz=tz, progress=progress)
        return await convert_async(table.to_pylist)

    async def count(self) -> int:
        """Returns the number of rows. Sends the requests, as no request that counts is specified, and keeps no rows.

        A scan requests one attribute only: the time that it selects by if that is among the columns, else the first.

        Returns:
            The number of rows that `collect` would return now.

        Raises:
            StreamInterruptedError: The response was cut off.
            DataAccessError: Any other failure of `batches`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> await client.scan_codes(allocated_time=da.on("2024-01-15")).count()
            73
        """
        if self._splits:
            # The parts of a request replace its rows, so they are in memory.
            return len(await self.collect())
        rows = 0
        async with self._counted().batches() as batches:
            async for batch in batches:
                rows += len(batch)
        return rows
