"""What every Spark process of the tests gets."""

from __future__ import annotations

import sys

# The loopback address, and this Python for its workers.
LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost", "PYSPARK_PYTHON": sys.executable}
# For JVMs that live for seconds.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
