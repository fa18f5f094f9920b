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
from dataaccess.spark._tasks import PlannedTask, planned_tasks, shared_by_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass
class ScanPartition(InputPartition):
    """One request of the scan."""

    planned: PlannedTask
    index: int


class ScanReader(DataSourceReader):
    """Plans a scan, and reads the partitions of it. It pickles without the scan and without the token."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        """Checks the columns."""
        with shown_first:
            values = checked(options)
            scan = scan_of(values, *scan_columns(schema, values))
            self._columns = columns_of(schema, values)
            self._shared = shared_by_tasks(scan)
            self._tasks = planned_tasks(scan)
            self._doubts = Doubts(values.get("on_doubt", "error"), len(self._tasks))

    def __getstate__(self) -> dict[str, Any]:
        """What `read` needs in an executor."""
        return {"_columns": self._columns, "_doubts": self._doubts, "_shared": self._shared}

    def partitions(self) -> list[InputPartition]:
        """One for each request, in the order of the plan. Sends nothing."""
        return [ScanPartition(task, index) for index, task in enumerate(self._tasks)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of one request, batch by batch."""
        with shown_first:
            task = self._shared.task(partition.planned)
            response = Response(task, self._columns)
            yield from response.batches()
            self._doubts.check(task, partition.index, response.outcome, SparkFiles.getRootDirectory())
