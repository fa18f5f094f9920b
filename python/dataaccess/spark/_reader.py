"""The reader of a scan: planned in a Python process of the driver, pickled into each task of the executors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark import SparkFiles
from pyspark.sql.datasource import DataSourceReader, InputPartition

from dataaccess._scan.pushdown import NoRowsError
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
            self._scan = scan_of(values, *scan_columns(schema, values))
            self._columns = columns_of(schema, values)
            self._doubts = Doubts(values.get("on_doubt", "error"), 0)
            self._shared = shared_by_tasks(self._scan)
            self._plan(planned_tasks(self._scan))

    def _plan(self, tasks: list[PlannedTask]) -> None:
        self._tasks = tasks
        self._doubts = replace(self._doubts, requests=len(tasks))

    def __getstate__(self) -> dict[str, Any]:
        """What `read` needs in an executor."""
        return {"_columns": self._columns, "_doubts": self._doubts, "_shared": self._shared}

    def partitions(self) -> list[InputPartition]:
        """One for each request, in the order of the plan. Sends nothing."""
        partitions: list[InputPartition] = [ScanPartition(task, index) for index, task in enumerate(self._tasks)]
        # Spark wants one, also where a filter selects no row.
        return partitions or [InputPartition(None)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of one request, batch by batch."""
        if not isinstance(partition, ScanPartition):
            return
        with shown_first:
            task = self._shared.task(partition.planned)
            response = Response(task, self._columns)
            yield from response.batches()
            self._doubts.check(task, partition.index, response.outcome, SparkFiles.getRootDirectory())

    @property
    def pushFilters(self) -> _PushFilters:  # noqa: N802 - Spark's name
        """Takes the filters of a query, if Spark passes them on."""
        return _PushFilters(self)

    def push(self, filters: list[Any]) -> list[Any]:
        """Narrows the requests to what these filters select. Returns the filters that Spark still has to apply."""
        from dataaccess.spark._pushed import Days, selected_by

        with shown_first:
            days = Days(filters, self._columns)
            zone = self._scan._raw.result_zone  # noqa: SLF001 - its scan
            is_exact = zone is not None and self._columns.kind("allocated_time") == "timestamp"
            try:
                scan, changed = self._scan._selecting(selected_by(days.others), is_exact=is_exact)  # noqa: SLF001 - likewise
                self._plan([task for task in planned_tasks(scan) if days.select(task.day)])
            except NoRowsError:
                changed = set()
                self._plan([])
            if changed:
                # What a filter may cause is no doubt about the scan.
                caused = frozenset({"AbsentAttributeWarning", "EmptyResultWarning"})
                self._doubts = replace(self._doubts, caused=caused)
            return days.others


class _PushFilters:
    """The method `pushFilters` of a reader.

    Spark refuses a reader with a method of its own while `spark.sql.python.filterPushdown.enabled` is off, and does not
    say what the setting is. It compares the function of the method, so this has the function of Spark's own.
    """

    def __init__(self, reader: ScanReader) -> None:
        """Takes no filters yet."""
        self._reader = reader
        self.__func__ = DataSourceReader.pushFilters

    def __call__(self, filters: list[Any]) -> list[Any]:
        """Narrows the requests."""
        return self._reader.push(filters)
