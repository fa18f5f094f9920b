"""`Batches` and `Batch`: the rows of a scan, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dataaccess._core.checks import optional
from dataaccess._public import public
from dataaccess._scan.outcome import stats_of, warn_of, warn_without_times
from dataaccess._scan.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from dataaccess._native import RawStream, RawTable
    from dataaccess.reports import ScanStats


@public
class Batch(Rows):
    """Some rows of a scan. Libraries that accept Arrow PyCapsules accept it directly.

    Examples:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        >>> next(scan.batches(max_rows=50))
        Batch(50 rows, 1 column: id)
    """

    __slots__ = ()

    def __init__(self, raw: RawTable) -> None:
        """Use `Scan.batches`."""
        self._raw = raw

    def to_arrow(self) -> pa.RecordBatch:
        """Returns a pyarrow record batch (extra `arrow`), without a copy.

        Raises:
            ImportError: pyarrow is not installed.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> next(scan.batches(max_rows=50)).to_arrow().num_rows
            50
        """
        return optional("pyarrow").record_batch(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns as Arrow PyCapsules. `requested_schema` is ignored."""
        capsules: tuple[object, object] = self._raw.array_capsules()
        return capsules


class BaseBatches:
    """The common part of `Batches` and `AsyncBatches`."""

    def __init__(self, raw: RawStream, tz: str | None) -> None:
        """Use `batches` of a scan."""
        self._raw, self._tz = raw, tz
        self._is_begun = self._has_warned = False

    @property
    def stats(self) -> ScanStats | None:
        """Statistics of the scan, once all responses are read to their end."""
        outcome = self._raw.stats
        return None if outcome is None else stats_of(outcome)

    def _taken(self, raw: RawTable | None) -> Batch | None:
        """The batch; None after the last, with the warnings of the whole scan."""
        if raw is not None:
            if not self._is_begun:
                self._is_begun = True
                warn_without_times(self._tz, raw.types)
            return Batch(raw)
        outcome = self._raw.stats
        if outcome is not None and not self._has_warned:
            self._has_warned = True
            warn_of(outcome)
        return None


@public
class Batches(BaseBatches):
    """The batches of a scan: an iterator, and a context manager that closes it.

    Threads may share it: each batch goes to one of them. Dropping or closing it cancels all requests in flight.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        >>> with scan.batches(max_rows=50) as batches:
        ...     print([batch.num_rows for batch in batches])
        [50, 23]
    """

    def close(self) -> None:
        """Cancels all requests in flight and closes their connections. Closing twice has no effect.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> batches = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).batches()
            >>> batches.close()
        """
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        """The next batch.

        Raises:
            StreamInterruptedError: The response was cut off, or the batches were closed before their end: the batches
                so far are not all rows.
        """
        batch = self._taken(self._raw.next())
        if batch is None:
            raise StopIteration
        return batch
