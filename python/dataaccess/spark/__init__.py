"""Spark 4 data source: `spark.read.format("dataaccess")` reads a scan, one partition for each of its requests.

Spark finds it by itself where this package is installed. Needs the extra `spark`; described in `docs/spark.md`.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    # Type checkers may lack pyspark, whose `DataSource` it is.
    DataAccessSource: type[Any]

__all__ = ["DataAccessSource"]


if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Loads the class at its first use: it needs pyspark."""
        if name != "DataAccessSource":
            raise AttributeError(f"module 'dataaccess.spark' has no attribute {name!r}")
        from dataaccess._core.optional import optional

        optional("pyspark", "spark")
        from dataaccess.spark._source import DataAccessSource

        return DataAccessSource
