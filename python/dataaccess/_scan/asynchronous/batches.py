"""The batches of an asynchronous scan, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.managed import AsyncManagedIterator
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import public
from dataaccess._scan.batch import Batch
from dataaccess._scan.outcome import stats_of, warn_of, warn_without_times
from dataaccess._scan.variants import next_batch_async

if TYPE_CHECKING:
    from dataaccess._native import RawStream
    from dataaccess.reports import ScanStats


@public
@short_tracebacks
class AsyncBatches(AsyncManagedIterator):
    """The batches of a scan: an asynchronous iterator, and a context manager that closes it.

    Tasks may share it: each batch goes to one of them. Dropping or closing it cancels all requests in flight.

    Examples:
        >>> import dataaccess as da
        >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        >>> async with scan.batches(max_rows=50) as batches:
        ...     print([batch.num_rows async for batch in batches])
        [50, 23]
    """

    def __init__(self, raw: RawStream, tz: str | None = None) -> None:
        """Use `batches` of a scan."""
        self._raw = raw
        self._tz = tz
        self._warned = self._is_begun = False

    @property
    def stats(self) -> ScanStats | None:
        """Statistics of the scan, once all responses are read to their end."""
        outcome = self._raw.stats
        return None if outcome is None else stats_of(outcome)

    async def close(self) -> None:
        """Cancels all requests in flight and closes their connections. Closing twice has no effect.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> await scan.batches().close()
        """
        self._raw.close()

    async def aclose(self) -> None:
        """Closes the batches, as `close`: the name that `contextlib.aclosing` calls.

        Examples:
            >>> import contextlib
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> async with contextlib.aclosing(scan.batches()) as batches:
            ...     print(sum([batch.num_rows async for batch in batches]))
            73
        """
        self._raw.close()

    async def __anext__(self) -> Batch:
        """The next batch.

        Raises:
            StreamInterruptedError: The response was cut off, or this was closed before its end: the batches so far
                are not all rows.
        """
        batch = await next_batch_async(self._raw)
        if batch is None:
            self._warn_once()
            raise StopAsyncIteration
        if not self._is_begun:
            self._is_begun = True
            warn_without_times(self._tz, batch.types)
        return Batch(batch)

    def _warn_once(self) -> None:
        outcome = self._raw.stats
        if outcome is not None and not self._warned:
            self._warned = True
            warn_of(outcome)
