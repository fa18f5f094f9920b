"""The few parts of scans that differ between the synchronous and the asynchronous classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._scan.plan import BaseScan

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, ParamSpec, TypeVar

    from dataaccess._native import RawBatch, RawStream

    _P = ParamSpec("_P")
    _T = TypeVar("_T")


@short_tracebacks
class ArrowSource(BaseScan):
    """Rows that other libraries read as Arrow PyCapsules."""

    # Of the query that asked for the schema last.
    _ends_at_interrupt = False

    def __iter__(self) -> NoReturn:
        """Raises a `TypeError` that says what to write: `pandas.DataFrame(scan)` would lose the types."""
        raise TypeError("a scan is not iterable: write scan.to_pandas() for a DataFrame, or scan.iter_rows() for rows")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow PyCapsule, read batch by batch. `requested_schema` is ignored.

        This call waits for the first batch. The other library pulls later batches without Python. Ctrl-C ends the
        requests there too, if the main thread made the stream and the program has no signal handler of its own.
        """
        from dataaccess._core.interrupt import ends_at_interrupt, is_native_thread

        self._check_streamed()
        # DuckDB asks for the schema in the thread of the query, and for the stream in any of its own.
        ends = ends_at_interrupt() or (self._ends_at_interrupt and is_native_thread())
        return self._raw.stream_capsule(ends)

    def __arrow_c_schema__(self) -> object:
        """The schema as an Arrow PyCapsule. If types are inferred, this sends the request that the next stream reads.

        The schema holds for that stream alone: each later one infers the types of its own responses.
        """
        from dataaccess._core.interrupt import ends_at_interrupt

        self._check_streamed()
        self._ends_at_interrupt = ends_at_interrupt()
        return self._raw.schema_capsule()


class AsyncArrowSource(BaseScan):
    """Rows that other libraries cannot read: they do not await."""

    def __iter__(self) -> NoReturn:
        """Raises a `TypeError` that says what to write."""
        raise TypeError(
            "a scan is not iterable: write `await scan.to_pandas()` for a DataFrame, or "
            "`async for row in scan.iter_rows()` for rows"
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Raises a `TypeError` that says what to pass instead."""
        raise TypeError(
            "other libraries cannot await: pass them the result of `await scan.collect()`, "
            "or use `await scan.to_polars()`, `to_pandas()` or `to_arrow()`"
        )


def next_batch(stream: RawStream) -> RawBatch | None:
    """Waits for the next batch; None after the last."""
    return stream.next()


async def next_batch_async(stream: RawStream) -> RawBatch | None:
    """Waits for the next batch; None after the last. A task that is cancelled here has taken no batch."""
    while (batch := stream.take()) is None and not stream.ended:
        await stream.wait_async()
    return batch


def convert(function: Callable[_P, _T], *arguments: _P.args, **keywords: _P.kwargs) -> _T:
    """Converts columns in this thread."""
    return function(*arguments, **keywords)


async def convert_async(function: Callable[_P, _T], *arguments: _P.args, **keywords: _P.kwargs) -> _T:
    """Converts columns in another thread, so that the event loop stays free."""
    import asyncio

    return await asyncio.to_thread(function, *arguments, **keywords)
