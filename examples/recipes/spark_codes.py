"""Promotion codes of some days into Parquet, by Spark.

    spark-submit --master spark://… spark_codes.py 2024-01-01 2024-03-01 s3a://warehouse/codes

Reads DATAACCESS_BASE_URL in the driver, and DATAACCESS_TOKEN in the driver and the executors.
"""

import sys

from pyspark.sql import SparkSession

start, stop, target = sys.argv[1:]
spark = SparkSession.builder.appName("codes").getOrCreate()
codes = (
    spark.read.format("dataaccess")
    .option("allocated_time", f"days('{start}', '{stop}')")  # the stop day is excluded
    .option("day_column", "day")  # the requested day, whatever the zone of the session is
    .option("retry_for", 600)
    .load()
)
# Replaces the days that have rows here, and keeps all others.
codes.write.partitionBy("day").mode("overwrite").option("partitionOverwriteMode", "dynamic").parquet(target)
spark.stop()
