"""What Python imports at its start. In the daemons of Spark: all that their workers import.

Spark forks a process for each step of the plan of a query, and each would import PySpark and pyarrow anew, for half a
second of a core: most of the time of the tests.
"""

from __future__ import annotations

import sys
from importlib import import_module

_, *arguments = sys.orig_argv
if arguments[:2] == ["-m", "pyspark.daemon"]:
    for name in (arguments[2], "pyarrow.compute", "dataaccess.spark._source"):
        import_module(name)
