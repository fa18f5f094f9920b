"""A search or scan of promotion codes: what is refused before a request is sent."""

from __future__ import annotations

from typing import Any

from support.messages import Cases, User, calls

import dataaccess as da

SEARCHES = Cases()


class Mute:
    """A value without a repr."""

    def __repr__(self) -> str:
        raise RuntimeError


def names(_user: User) -> dict[str, Any]:
    """What the calls use."""
    return {"DAY": da.on("2024-01-15"), "Mute": Mute}


SEARCHES.add(
    calls(
        """
        client.search_codes(allocated_time=None)
        client.search_codes(allocated_time=da.on)
        client.search_codes(allocated_time="2024-01-15")
        client.search_codes(allocated_time=["2024-01-15", "2024-01-16"])
        client.search_codes(allocated_time=col("allocated_time").on("2024-01-15"))
        client.search_codes(allocated_time=col("allocated_time"))
        client.search_codes(allocated_time=da.after("tomorrow"))
        client.search_codes(allocated_time=da.after("2024-02-30"))
        client.search_codes(allocated_time=da.after("1706659200000"))
        client.search_codes(allocated_time=da.after(1706659200))
        client.search_codes(allocated_time=da.after(1706659200000000))
        client.search_codes(allocated_time=da.after(5))
        client.search_codes(allocated_time=da.after(1.5))
        client.search_codes(allocated_time=da.after(True))
        client.search_codes(allocated_time=da.after(None))
        client.search_codes(allocated_time=da.after(["2024-01-15"]))
        client.search_codes(allocated_time=da.after("2024-01-31T09:30:00[Europe/Berlin]"))
        client.search_codes(allocated_time=da.on("2024-01-31T23:30:00-11:00"))
        client.search_codes(allocated_time=da.on("+12024-01-31"))
        client.search_codes(allocated_time=da.on("9999-12-31"))
        client.search_codes(allocated_time=da.after("9999-12-31T23:59:59-20:00"))
        client.search_codes(allocated_time=da.op("equals", [1, 2]))
        client.search_codes(allocated_time=DAY, code_status=7)
        client.search_codes(allocated_time=DAY, code_status="snet")
        client.search_codes(allocated_time=DAY, code_status=["sent", 7, "x"])
        client.search_codes(allocated_time=DAY, code_status=list(range(10, 40)))
        client.search_codes(allocated_time=DAY, code_status=[])
        client.search_codes(allocated_time=DAY, code_status=True)
        client.search_codes(allocated_time=DAY, code_status=3.5)
        client.search_codes(allocated_time=DAY, code_status="3")
        client.search_codes(allocated_time=DAY, code_status=da.after("2024-01-15"))
        client.search_codes(allocated_time=DAY, code_status=da.days("2024-01-01", "2024-02-01"))
        client.search_codes(allocated_time=DAY, code_status=da.op("equals", ["sent"]))
        client.search_codes(allocated_time=DAY, audience_type="customer")
        client.search_codes(allocated_time=DAY, audience_type="customers", allocated_audience="17")
        client.search_codes(allocated_time=DAY, allocated_audience=17.0)
        client.search_codes(allocated_time=DAY, allocated_audience="")
        client.search_codes(allocated_time=DAY, allocated_audience=[None])
        client.search_codes(allocated_time=DAY, allocated_audience=True)
        client.search_codes(allocated_time=DAY, allocated_audience={"a": 1})
        client.search_codes(allocated_time=DAY, allocated_audience="\\ud800")
        client.search_codes([], allocated_time=DAY)
        client.search_codes("id,name", allocated_time=DAY)
        client.search_codes(["id", "id"], allocated_time=DAY)
        client.search_codes(["id", "nmae"], allocated_time=DAY)
        client.search_codes(["id", "shoe_size"], allocated_time=DAY)
        client.search_codes([7], allocated_time=DAY)
        client.search_codes(["a,b"], allocated_time=DAY)
        client.search_codes(["id", ""], allocated_time=DAY)
        client.search_codes(allocated_time=DAY, limit=0)
        client.search_codes(allocated_time=DAY, limit="5")
        client.search_codes(allocated_time=DAY, limit=True)
        client.search_codes(["nmae"], allocated_time=DAY, code_status=7, limit=0)
        client.validate_codes(allocated_time=DAY, code_status=7)
        client.validate_codes(allocated_time=DAY, code_status=Mute())
        client.scan_codes(allocated_time=da.days("2024-02-01", "2024-01-01"))
        client.scan_codes(allocated_time=da.days("2024-01-01", "2024-01-01"))
        client.scan_codes(allocated_time=da.days("2024-01-01", "2024-01-31T10:00"))
        client.scan_codes(allocated_time=da.days("2024-01-01T10:00", "2024-01-31"))
        client.scan_codes(allocated_time=da.days("0100-01-01", "2024-01-31"))
        client.scan_codes(allocated_time=da.month("9999-12"))
        client.scan_codes(allocated_time=da.month("January"))
        client.scan_codes(allocated_time=da.month(1))
        client.scan_codes(allocated_time=da.last_days(0))
        client.scan_codes(allocated_time=da.last_days("7"))
        client.scan_codes(allocated_time=DAY, schema={"id": "varchar"})
        client.scan_codes(allocated_time=DAY, schema={"di": "string"})
        client.scan_codes(allocated_time=DAY, schema="string")
        client.scan_codes(allocated_time=DAY, schema={"id": 5})
        client.scan_codes(allocated_time=DAY, decode_status="yes")
        client.scan_codes(allocated_time=DAY, on_suspected_cap="halve")
        client.scan_codes(allocated_time=DAY, limit=5, on_suspected_cap="split")
        client.scan_codes(allocated_time=DAY, limit=5).tasks()
        client.scan_codes(allocated_time=DAY).head(-1)
        """,
        names,
    )
)
