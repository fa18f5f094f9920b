"""The reader of a scan: planned in a Python process of the driver, pickled into each task of the executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from dataaccess._core.tracebacks import at_the_caller
from dataaccess.spark._options import checked, scan_of
from dataaccess.spark._schema import scan_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql.types import StructType

    from dataaccess._scan.synchronous.scan import Task


@dataclass
class ScanPartition(InputPartition):
    """One request of the scan. It pickles without the token."""

    task: Task


class ScanReader(DataSourceReader):
    """Plans a scan, and reads the partitions of it."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        """Checks the columns."""
        self._schema = schema
        with at_the_caller:
            values = checked(options)
            self._scan = scan_of(values, *scan_columns(schema, values))

    def partitions(self) -> list[ScanPartition]:
        """One for each request, in the order of the plan. Sends nothing."""
        return [ScanPartition(task) for task in self._scan.tasks()]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of one request, batch by batch."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        target = to_arrow_schema(self._schema, timezone="UTC")
        # A `timestamp` is an instant; a `timestamp_ntz` is the time as the service wrote it.
        are_instants = [pa.types.is_timestamp(field.type) and field.type.tz is not None for field in target]
        with partition.task.batches(tz=None) as batches:
            for batch in batches:
                written, instants = batch.to_arrow(), batch.to_arrow(tz="UTC")
                pairs = zip(are_instants, written.columns, instants.columns, strict=True)
                columns = [instant if is_instant else text for is_instant, text, instant in pairs]
                yield pa.RecordBatch.from_arrays(columns, names=written.schema.names).cast(target)
