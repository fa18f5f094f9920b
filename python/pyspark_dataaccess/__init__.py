"""Where Spark finds the data source `dataaccess`: it looks for `DefaultSource` in every package named `pyspark_…`.

Spark imports this module in each session that uses a data source written in Python. So it imports little, and not
pyarrow: without that the other data sources keep working.
"""

from dataaccess.spark._source import DataAccessSource as DefaultSource

__all__ = ["DefaultSource"]
