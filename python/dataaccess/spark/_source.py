"""The data source, which Spark makes in Python processes of the driver. Executors have only its reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from dataaccess._core.tracebacks import at_the_caller
from dataaccess.spark._options import checked, scan_of
from dataaccess.spark._reader import ScanReader
from dataaccess.spark._schema import fixed_schema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class DataAccessSource(DataSource):
    """Reads promotion codes, or items of another object, into Spark: one partition for each request of the scan.

    Spark finds it by itself where this package is installed: `spark.read.format("dataaccess")`. Options have the names
    of the arguments of `Client`, `scan_codes` and `scan_items`, and are checked by `load()`, which sends nothing.

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
        with at_the_caller:
            values = checked(options)
            # Which columns there are is known later; each object has an id.
            scan_of(values, None if "attrs" in values or "item_type_name" not in values else ["id"], None)

    def schema(self) -> str:
        """The columns, where the service fixes them: those of promotion codes."""
        with at_the_caller:
            return fixed_schema(checked(self.options))

    def reader(self, schema: StructType) -> ScanReader:
        """The reader of these columns."""
        return ScanReader(self.options, schema)
