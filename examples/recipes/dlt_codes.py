"""Promotion codes into a warehouse with dlt: each run loads the days since the last one.

Reads DATAACCESS_BASE_URL and DATAACCESS_TOKEN. The destination is DuckDB here; dlt has others.
"""

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import dlt
import pyarrow as pa

import dataaccess as da

FIRST = datetime(2024, 1, 1)  # the first day, without a zone as the column is


@dlt.resource(primary_key="id", write_disposition="merge")
def codes(
    until: str,
    allocated_time: Any = dlt.sources.incremental("allocated_time", initial_value=FIRST, lag=3 * 86_400),
) -> Iterator[pa.RecordBatch]:
    """Batches of the codes from the last loaded day on, and of three days before it: they may have changed status."""
    start = allocated_time.last_value
    scan = da.scan_codes(allocated_time=da.days(start.date(), until))
    schema = pa.schema(scan)
    # A primary key is never null; dlt warns of a column that might be.
    schema = schema.set(0, schema.field("id").with_nullable(nullable=False))
    for batch in scan.batches():
        yield pa.record_batch(batch).cast(schema)


pipeline = dlt.pipeline("codes", destination="duckdb", dataset_name="warehouse")
print(pipeline.run(codes(sys.argv[1])))
