"""The batches of a scan, handed out one by one: to threads, and to tasks of asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dataaccess._scan.outcome import ScanStats, stats_of, warn_of
from dataaccess._scan.table import Batch

if TYPE_CHECKING:
    from types import TracebackType

    from dataaccess._native import RawStream


class Batches:
    """The batches of a scan, one after the other: an iterator, and a context manager that closes it.

    Threads may share it: each batch goes to one of them. Dropping or closing it ends the request.

    Example:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(["id"], allocated_time=da.after("2024-01-01"))
        >>> with scan.batches(max_rows=1_000) as batches:
        ...     sizes = [batch.num_rows for batch in batches]
        >>> max(sizes)
        1000
        >>> batches.stats.rows == sum(sizes)
        True
    """

    def __init__(self, raw: RawStream) -> None:
        """Made by `Scan.batches`."""
        self._raw = raw
        self._warned = False

    @property
    def stats(self) -> ScanStats | None:
        """The figures, once the answer was read to its end."""
        told = self._raw.stats
        return None if told is None else stats_of(told)

    def close(self) -> None:
        """Ends the request and its connection. Closing twice is closing once."""
        self._raw.close()

    def __iter__(self) -> Self:
        """The iterator itself."""
        return self

    def __next__(self) -> Batch:
        """The next batch.

        Raises:
            StreamInterruptedError: The answer broke off, or this was closed before its end: the batches so far are
                not all there is.
        """
        batch = self._raw.next()
        if batch is None:
            _warn_once(self)
            raise StopIteration
        return Batch(batch)

    def __enter__(self) -> Self:
        """The iterator itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()


class AsyncBatches:
    """The batches of a scan for asyncio: as `Batches`, awaited. Tasks may share it.

    Whoever is cancelled while it waits for a batch has taken none: the next one gets it.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> async def main() -> int:
        ...     scan = da.AsyncClient("sandbox:demo").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        ...     return sum([batch.num_rows async for batch in scan.batches()])
        >>> asyncio.run(main())
        73
    """

    def __init__(self, raw: RawStream) -> None:
        """Made by `AsyncScan.batches`."""
        self._raw = raw
        self._warned = False

    @property
    def stats(self) -> ScanStats | None:
        """The figures, once the answer was read to its end."""
        told = self._raw.stats
        return None if told is None else stats_of(told)

    async def close(self) -> None:
        """Ends the request and its connection. Closing twice is closing once."""
        self._raw.close()

    async def aclose(self) -> None:
        """As `close`, by the name that `contextlib.aclosing` calls."""
        self._raw.close()

    def __aiter__(self) -> Self:
        """The iterator itself."""
        return self

    async def __anext__(self) -> Batch:
        """The next batch.

        Raises:
            StreamInterruptedError: The answer broke off, or this was closed before its end: the batches so far are
                not all there is.
        """
        while (batch := self._raw.take()) is None:
            if self._raw.ended:
                _warn_once(self)
                raise StopAsyncIteration
            await self._raw.wait_async()
        return Batch(batch)

    async def __aenter__(self) -> Self:
        """The iterator itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes it."""
        await self.close()


def _warn_once(batches: Batches | AsyncBatches) -> None:
    told = batches._raw.stats  # noqa: SLF001 - its own
    if told is not None and not batches._warned:  # noqa: SLF001 - likewise
        batches._warned = True  # noqa: SLF001 - likewise
        warn_of(told)
