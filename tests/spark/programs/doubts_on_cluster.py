"""Reads a month of a service that cuts its responses, with two executors, and prints what the driver gets."""

import sys

from pyspark.errors import PythonException
from pyspark.sql import SparkSession

[java_options] = sys.argv[1:]
builder = SparkSession.builder.master("local-cluster[2,1,512]").config("spark.executor.memory", "512m")
for process in ("driver", "executor"):
    builder = builder.config(f"spark.{process}.extraJavaOptions", java_options)
session = builder.config("spark.ui.enabled", "false").config("spark.log.level", "OFF").getOrCreate()
codes = session.read.format("dataaccess").option("allocated_time", "month('2024-01')").option("attrs", "id")
session.conf.set("spark.sql.pyspark.worker.logging.enabled", "true")
print(codes.option("on_doubt", "warn").load().count())
if hasattr(session.tvf, "python_worker_logs"):  # since Spark 4.1
    logs = session.tvf.python_worker_logs().select("msg").collect()
    print(sum("IncompleteWarning: request" in row.msg for row in logs))
try:
    codes.option("on_doubt", "error").load().count()
except PythonException as error:
    print(next(line for line in str(error).splitlines() if "dataaccess." in line))
session.stop()
