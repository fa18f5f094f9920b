"""A folder of a run as a table of DuckDB. Reads DATAACCESS_BASE_URL and DATAACCESS_TOKEN."""

import duckdb

import dataaccess as da

january = da.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
january.to_folder("codes")  # one file a day; the next time only days that are missing

codes = duckdb.read_parquet("codes/**/*.parquet", hive_partitioning=True)
print(duckdb.sql("select day, count(*) as used from codes where code_status = 4 group by day order by day"))
