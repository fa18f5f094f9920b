"""The data source, which Spark makes in Python processes of the driver. Executors have only its reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from dataaccess.errors import ConfigError
from dataaccess.spark._errors import shown_first
from dataaccess.spark._options import checked, has_scan, scan_of
from dataaccess.spark._reader import ScanReader
from dataaccess.spark._schema import fixed_schema

if TYPE_CHECKING:
    from typing import NoReturn

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
