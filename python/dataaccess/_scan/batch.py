"""`Batch`: some rows of a scan as Arrow columns, ready for other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.optional import optional
from dataaccess._public import public
from dataaccess._scan.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from dataaccess._native import RawBatch
    from dataaccess._types import TimeZone


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

    def __init__(self, raw: RawBatch) -> None:
        """Use `Scan.batches`."""
        self._raw = raw

    def to_arrow(self, *, tz: TimeZone | None = None) -> pa.RecordBatch:
        """Returns a pyarrow record batch (extra `arrow`), without a copy.

        Args:
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. None leaves them as they are.

        Returns:
            A record batch.

        Raises:
            ImportError: pyarrow is not installed.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> next(scan.batches(max_rows=50)).to_arrow().num_rows
            50
        """
        return optional("pyarrow").record_batch(self._zoned(tz))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns as Arrow PyCapsules. `requested_schema` is ignored."""
        capsules: tuple[object, object] = self._raw.array_capsules()
        return capsules
