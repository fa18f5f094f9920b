"""The reader of a scan: planned in a Python process of the driver, pickled into each task of the executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import SparkFiles
from pyspark.sql.datasource import DataSourceReader, InputPartition

from dataaccess.spark._doubts import Doubts
from dataaccess.spark._errors import shown_first
from dataaccess.spark._options import checked, scan_of
from dataaccess.spark._responses import Response
from dataaccess.spark._schema import columns_of, scan_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql.types import StructType

    from dataaccess._scan.synchronous.scan import Task


@dataclass
class ScanPartition(InputPartition):
    """One request of the scan. It pickles without the token."""

    task: Task
    index: int


class ScanReader(DataSourceReader):
    """Plans a scan, and reads the partitions of it."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        """Checks the columns."""
        with shown_first:
            values = checked(options)
            self._scan = scan_of(values, *scan_columns(schema, values))
            self._columns = columns_of(schema, values)
            self._doubts = Doubts(values.get("on_doubt", "warn"), self._scan._raw.requests)  # noqa: SLF001 - its scan

    def partitions(self) -> list[ScanPartition]:
        """One for each request, in the order of the plan. Sends nothing."""
        return [ScanPartition(task, index) for index, task in enumerate(self._scan.tasks())]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of one request, batch by batch."""
        with shown_first:
            response = Response(partition.task, self._columns)
            yield from response.batches()
            self._doubts.check(partition.task, partition.index, response.outcome, SparkFiles.getRootDirectory())
