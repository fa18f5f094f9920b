"""Data source for Spark 4: `spark.read.format("dataaccess")` reads a scan, one partition for each of its requests.

Spark finds it by itself where this package is installed. Needs the extra `spark`; described in `docs/spark.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Type checkers may lack pyspark, whose `DataSource` it is.
    DataAccessSource: type[Any]

__all__ = ["DataAccessSource"]


if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Loads the class at its first use: it needs pyspark."""
        if name != "DataAccessSource":
            raise AttributeError(f"module 'dataaccess.spark' has no attribute {name!r}")
        from dataaccess._core.checks import optional

        version = optional("pyspark").__version__
        if version.startswith(("2.", "3.")):  # without data sources in Python
            message = f"the data source needs PySpark 4.0 or newer, this is {version}: pip install -U pyspark"
            raise ImportError(message, name="pyspark")
        from dataaccess.spark._source import DataAccessSource

        return DataAccessSource
