"""Time zones, and days in them."""

from __future__ import annotations

from typing import Any

from support.messages import ADDRESS, ROW, Cases, User, calls, program
from support.raw_server import always, serving

import dataaccess as da

ZONES = Cases()


def names(user: User) -> dict[str, Any]:
    """What the calls use."""
    samoa = da.Client(ADDRESS, token="t", timezone="Pacific/Apia")
    scan = user.client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))
    store = user.client.scan_items("customer", ["name"], da.col("customer_id").equals("x"), schema={"name": "string"})
    return {"samoa": samoa, "scan": scan, "store": store}


ZONES.add(
    calls(
        """
        samoa.search_codes(allocated_time=da.on("2011-12-30"))
        samoa.search_codes(allocated_time=da.on(dt.datetime(2024, 1, 15, 23, tzinfo=dt.timezone.utc)))
        scan.to_pandas(tz="Asia/Saigoon")
        scan.to_pandas(tz=7)
        store.to_pandas(tz="Asia/Tokyo")
        scan.to_pandas(dtype_backend="numpy")
        client.check(day="2024-02-30")
        client.check(day=da.days("2024-01-01", "2024-02-01"))
        client.check(day=5)
        """,
        names,
    )
)


SEARCH = """
import sys
import dataaccess as da

client = da.Client(sys.argv[1], token=sys.argv[2])
client.search_items("store", ["n", "text"], da.col("n").on("2024-01-15"), item_type_id=7)
"""


@ZONES.of("client.search_codes(…) of a day at a platform, without timezone")
def _no_zone(_user: User) -> object:
    with serving(always(ROW)) as server:
        return program(SEARCH, server.base_url, "t")
