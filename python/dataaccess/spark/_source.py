"""The data source and its reader, both made in Python processes of the driver.

The reader plans a scan and is pickled into each task of the executors.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import SparkFiles
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from dataaccess.errors import ConfigError, DataAccessError, InternalError
from dataaccess.spark._doubts import Doubts
from dataaccess.spark._options import checked, has_scan, scan_of
from dataaccess.spark._schema import columns_of, fixed_schema, scan_columns
from dataaccess.spark._tasks import PlannedTask, Response, planned_tasks, shared_by_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import NoReturn

    import pyarrow as pa
    from pyspark.sql.types import StructType


class _ShownFirst:
    """Prepares an error that passes for the text that Spark makes of it in another process.

    Spark prints the chain of an error: its cause, then the frames of Spark, then the error. So an error gets itself as
    its cause, which has no frames: Spark's text begins with it, and ends with it as before. Of an error with frames of
    another package Spark leaves out the chain, so it gets none of ours.
    """

    def __enter__(self) -> None:
        """Holds nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Lets the error pass."""
        is_ours = isinstance(error, DataAccessError) and not isinstance(error, InternalError)
        if error is not None and is_ours and error.__cause__ is None:
            error.__cause__ = copy(error)
            error.__traceback__ = None


shown_first = _ShownFirst()


# Requests at a time, at most: no service is asked by hundreds of cores at once, and a partition costs Spark as much as
# a small request.
_PARTITIONS = 16


@dataclass
class ScanPartition(InputPartition):
    """Requests of the scan that follow each other; `first` is the index of the first one."""

    planned: list[PlannedTask]
    first: int


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
        """One for each request, or for several where there are many, in the order of the plan. Sends nothing."""
        size = -(-len(self._tasks) // _PARTITIONS)
        return [ScanPartition(self._tasks[first : first + size], first) for first in range(0, len(self._tasks), size)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of its requests, batch by batch."""
        with shown_first:
            for index, planned in enumerate(partition.planned, partition.first):
                task = self._shared.task(planned)
                response = Response(task, self._columns)
                yield from response.batches()
                self._doubts.check(task, index, response.outcome, SparkFiles.getRootDirectory())


class DataAccessSource(DataSource):
    """Reads promotion codes, or items of another object, into Spark: a partition for each request of the scan.

    The requests of a long scan share 16 partitions. Spark finds the source by itself where this package is installed:
    `spark.read.format("dataaccess")`. Options have the names of the arguments of `Client`, `scan_codes` and
    `scan_items`, and are checked by `load()`, which sends nothing.

    Raises:
        ValidationError: Options are invalid, or the request that they describe is.
        ConfigError: The address or another setting is invalid, or there is no token.
    """

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "dataaccess"

    def __init__(self, options: dict[str, str]) -> None:
        """Checks the options, so that `load()` and not an executor reports what is wrong with them."""
        super().__init__(options)
        with shown_first:
            values = checked(options)
            if not has_scan(values):
                # Whether this is a write is known later.
                return
            # Which columns there are is known later; each object has an id.
            scan_of(values, None if "attrs" in values or "item_type_name" not in values else ["id"], None)

    def schema(self) -> str:
        """The columns, where the service fixes them: those of promotion codes."""
        with shown_first:
            return fixed_schema(checked(self.options))

    def reader(self, schema: StructType) -> ScanReader:
        """The reader of these columns."""
        return ScanReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> NoReturn:
        """Says that there is none.

        Raises:
            ConfigError: Always.
        """
        with shown_first:
            raise ConfigError(
                "the format dataaccess cannot be written, as no request that writes rows is specified: write files or "
                "tables, such as frame.write.parquet(path)"
            )

    def streamReader(self, schema: StructType) -> NoReturn:
        """Says that there is none.

        Raises:
            ConfigError: Always.
        """
        with shown_first:
            raise ConfigError(
                "the format dataaccess is no stream, as the service reports no changes: read the last days each night, "
                'such as .option("allocated_time", "last_days(3)")'
            )

    def streamWriter(self, schema: StructType, overwrite: bool) -> NoReturn:
        """Says that there is none, as `writer` does."""
        self.writer(schema, overwrite)
