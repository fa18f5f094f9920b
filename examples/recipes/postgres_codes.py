"""Promotion codes of some days into a table of Postgres, by COPY, in one transaction.

    python postgres_codes.py "host=/run/postgresql dbname=marketing" 2024-01-01 2024-02-01

Reads DATAACCESS_BASE_URL and DATAACCESS_TOKEN. Running it again for the same days changes what has changed.
"""

import sys

import psycopg

import dataaccess as da

TABLE = """
    create table if not exists codes (
        id text primary key,
        pool_id bigint,
        code_status smallint,
        allocated_time timestamptz,
        last_used_time timestamptz
    )
"""
MERGE = """
    insert into codes select * from arrived
    on conflict (id) do update set
        pool_id = excluded.pool_id,
        code_status = excluded.code_status,
        allocated_time = excluded.allocated_time,
        last_used_time = excluded.last_used_time
"""


def load(database: str, start: str, stop: str) -> int:
    """Add the codes of these days, `stop` excluded. Return how many rows arrived."""
    scan = da.scan_codes(
        ["id", "pool_id", "code_status", "allocated_time", "last_used_time"],  # the columns of the table
        allocated_time=da.days(start, stop),
    )
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(TABLE)
        cursor.execute("create temporary table arrived (like codes) on commit drop")
        with cursor.copy("copy arrived from stdin") as copy:
            for row in scan.iter_rows(tz="UTC"):  # as instants
                copy.write_row([*row.values()])
        cursor.execute(MERGE)
        return int(cursor.rowcount)


if __name__ == "__main__":
    print(f"{load(*sys.argv[1:]):,} codes")
