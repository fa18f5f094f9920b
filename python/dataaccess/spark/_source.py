"""The data source and its reader, both made in Python processes of the driver.

The reader plans a scan and is pickled into each task of the executors.
"""

from __future__ import annotations

import pickle
from copy import copy
from typing import TYPE_CHECKING, Any

from pyspark import SparkFiles
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from dataaccess.errors import ConfigError, DataAccessError, InternalError
from dataaccess.spark._doubts import Doubts
from dataaccess.spark._options import checked, scan_of
from dataaccess.spark._schema import columns_of, fixed_schema, scan_columns
from dataaccess.spark._tasks import Shared, batches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    import pyarrow as pa
    from pyspark.sql.types import StructType


class shown_first:
    """Prepares an error that passes for the text that Spark makes of it in another process.

    Spark prints the chain of an error: its cause, then the frames of Spark, then the error. So an error gets itself as
    its cause, which has no frames: Spark's text begins with it, and ends with it as before. Of an error with frames of
    another package Spark leaves out the chain, so it gets none of ours.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        is_ours = isinstance(error, DataAccessError) and not isinstance(error, InternalError)
        if error is not None and is_ours and error.__cause__ is None:
            error.__cause__ = copy(error)
            error.__traceback__ = None


# Requests at a time, at most: no service is asked by hundreds of cores at once, and a partition costs Spark as much as
# a small request.
_PARTITIONS = 16


class ScanReader(DataSourceReader):
    """Plans a scan, and reads the partitions of it. It pickles without the scan and without the token."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        """Checks the columns."""
        with shown_first():
            values = checked(options)
            scan = scan_of(values, *scan_columns(schema, values))
            self._columns = columns_of(schema, values)
            self._shared = Shared(pickle.dumps(scan._client), scan._call, scan._schema, scan._splits)
            self._tasks = [(index, (task.id, task._raw.body(0))) for index, task in enumerate(scan.tasks())]
            self._doubts = Doubts(values.get("on_doubt", "error"), len(self._tasks))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tasks"}

    def partitions(self) -> list[InputPartition]:
        """One for each request, or for several where there are many, in the order of the plan. Sends nothing."""
        size = -(-len(self._tasks) // _PARTITIONS)
        return [InputPartition(self._tasks[first : first + size]) for first in range(0, len(self._tasks), size)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of its requests, batch by batch."""
        with shown_first():
            for index, planned in partition.value:
                task = self._shared.task(planned)
                outcome = yield from batches(task, self._columns)
                self._doubts.check(task, index, outcome, SparkFiles.getRootDirectory())


class DataAccessSource(DataSource):
    """Reads promotion codes, or items of another object, into Spark: a partition for each request of the scan.

    The requests of a long scan share 16 partitions. Spark finds the source by itself where this package is installed:
    `spark.read.format("dataaccess")`. Options have the names of the arguments of `Client`, `scan_codes` and
    `scan_items`, and are checked by `load()`, which sends nothing.
    """

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "dataaccess"

    def __init__(self, options: dict[str, str]) -> None:
        """Checks the options, so that `load()` and not an executor reports what is wrong with them."""
        super().__init__(options)
        with shown_first():
            values = checked(options)
            if not values.keys() & {"item_type_name", "allocated_time"}:
                # Whether this is a write, whose options say nothing to read, is known later.
                return
            # Which columns there are is known later; each object has an id.
            scan_of(values, None if "attrs" in values or "item_type_name" not in values else ["id"], None)

    def schema(self) -> str:
        """The columns, where the service fixes them: those of promotion codes."""
        with shown_first():
            return fixed_schema(checked(self.options))

    def reader(self, schema: StructType) -> ScanReader:
        """The reader of these columns."""
        return ScanReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> NoReturn:
        """Says that there is none."""
        with shown_first():
            raise ConfigError(
                "the format dataaccess cannot be written, as no request that writes rows is specified: write files or "
                "tables, such as frame.write.parquet(path)"
            )

    def streamReader(self, schema: StructType) -> NoReturn:
        """Says that there is none."""
        with shown_first():
            raise ConfigError(
                "the format dataaccess is no stream, as the service reports no changes: read the last days each night, "
                'such as .option("allocated_time", "last_days(3)")'
            )

    def streamWriter(self, schema: StructType, overwrite: bool) -> NoReturn:
        """Says that there is none."""
        self.writer(schema, overwrite)
