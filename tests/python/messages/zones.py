"""Time zones, and days in them."""

from __future__ import annotations

from typing import Any

from support.messages import ADDRESS, ROW, Cases, User, program
from support.raw_server import always, serving

import dataaccess as da


def names(user: User) -> dict[str, Any]:
    """What the calls use."""
    samoa = da.Client(ADDRESS, token="t", timezone="Pacific/Apia")
    scan = user.client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))
    store = user.client.scan_items("customer", ["name"], da.col("customer_id").equals("x"), schema={"name": "string"})
    return {"samoa": samoa, "scan": scan, "store": store}


ZONES = Cases(names)

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
