"""Reads with the token of `DATAACCESS_TOKEN_FILE` from its own address, and tries another one that is allowed."""
# ruff: noqa: T201 - the test reads what it prints

import sys

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

other, java_options = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").config("spark.driver.extraJavaOptions", java_options)
session = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
day = session.read.format("dataaccess").option("allocated_time", "on('2024-01-15')").option("attrs", "id")
print(day.load().count())
try:
    print(day.option("base_url", other).load().count())
except AnalysisException as error:
    print(error)
session.stop()
