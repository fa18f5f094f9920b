"""Scans and tables: requests that fail, columns that do not fit, results that are doubtful."""

from __future__ import annotations

import asyncio
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import tqdm
from support.messages import ADDRESS, Cases, User
from support.raw_server import Responder, always, closing, http, in_turn, serving
from support.runs import by_day, some_days
from support.streams import response_of

import dataaccess as da

DAY = da.on("2024-01-15")


def names(user: User) -> dict[str, Any]:
    scan = user.client.scan_codes(["id", "name"], allocated_time=DAY)
    aio = da.AsyncClient(ADDRESS, token="t")
    user.patch.setenv("TQDM_DISABLE", "1")

    async def awaited(_update: object) -> None:
        return

    return {
        "awaited": awaited,
        "tqdm": tqdm,
        "scan": scan,
        "split": user.client.scan_codes(["id"], allocated_time=DAY, on_suspected_cap="split"),
        "table": scan.collect(),
        "ascan": aio.scan_codes(["id"], allocated_time=DAY),
        "pickle": pickle,
        "warnings": warnings,
    }


SCANS = Cases(names)


def scan_of(client: Any, **options: Any) -> Any:
    where = da.col("n").equals("x")
    return client.scan_items("store", ["n", "text"], where, item_type_id=7, **options)


def typed(kind: str) -> Callable[[Any], object]:
    return lambda client: scan_of(client, schema={"n": kind}).to_arrow()


def rows(*values: object) -> bytes:
    """A response with these values of `n`."""
    return response_of([{"n": value, "text": "x"} for value in values])


VALUES: dict[str, list[tuple[object, ...]]] = {
    "int64": [(1, "x"), (1, 1.5)],
    "float64": [(1.5, "x")],
    "bool": [(True, "yes")],
}
for _kind, _values in VALUES.items():
    _label = f'schema={{"n": "{_kind}"}} where n is'
    SCANS.responses({f"{_label} {each!r}": rows(*each) for each in _values}, typed(_kind))

SCANS.responses(
    {
        "to_arrow() where n is a string and a number": rows("x", 1),
        "to_arrow() where meta.total is another number": response_of([{"n": "x", "text": "x"}], meta={"total": 40}),
    },
    lambda client: scan_of(client).to_arrow(),
)


@SCANS.of("for batch in scan.batches(): … where the response is cut off")
def _cut(user: User) -> object:
    with user.served(closing(response_of([{"n": "x", "text": "x"}] * 5_000)[:-5])) as client:
        return list(scan_of(client).batches(max_rows=1_000))


def days_of(
    responder: Responder, attrs: list[str], days: Any, use: Callable[[Any], object] = lambda scan: scan.collect()
) -> Callable[[User], object]:
    """Uses a scan of days, one after the other, of a server that responds so."""

    def act(_user: User) -> object:
        with serving(responder) as server:
            client = da.Client(server.base_url, token="t", retry_for=0, timezone="UTC", concurrency=1)
            return use(client.scan_codes(attrs, allocated_time=days))

    return act


THREE = da.days("2024-01-01", "2024-01-04")
ONE, OTHER, NO_DATA = response_of([{"id": "x"}]), response_of([{"id": "y"}]), http({"code": 200, "message": "ok"})
LATE = [{"id": str(n), "allocated_time": f"2024-02-{n:02} 12:00:00"} for n in range(1, 20)]
TIMES = ["id", "allocated_time"]
SCANS.table(
    {
        "for batch in scan.batches(): … where the second of three requests is rejected": days_of(
            in_turn(ONE, http(b"", "400 Bad")), ["id"], THREE, lambda scan: list(scan.batches(max_rows=1))
        ),
        "scan.collect() of three days, of which one has a response without data": days_of(
            in_turn(ONE, NO_DATA, OTHER), ["id"], THREE
        ),
        "scan.collect() of days whose times no zone explains": days_of(always(response_of(LATE)), TIMES, DAY),
    }
)


@SCANS.of("batches.read_all() after batches.close()")
def _closed(user: User) -> object:
    batches = user.client.scan_codes(["id"], allocated_time=DAY).batches(max_rows=10)
    next(batches)
    batches.close()
    return next(batches)


def using(service: Any, use: Callable[[da.Sandbox], object]) -> Callable[[User], object]:
    def act(_user: User) -> object:
        with service() as running:
            return use(running)

    return act


def stray() -> da.Sandbox:
    """A service that cuts days in Tokyo, with the codes of some days."""
    service = da.Sandbox(switches={"day_zone": "Asia/Tokyo"})
    rows = [
        {"id": f"{day}-{hour}", "allocated_time": f"2024-01-{day:02} {hour:02}:00:00"}
        for day in range(1, 4)
        for hour in range(24)
    ]
    service.load("promotion_code", [*rows, {"id": "late", "allocated_time": "2023-12-31 16:00:00"}])
    return service


def of_ids(attrs: list[str], first: int, last: int) -> Callable[[da.Sandbox], object]:
    """A scan of ten ids, of which these have a row."""

    def use(service: da.Sandbox) -> object:
        service.load("customer", [{"customer_id": f"{n:04}", "name": "x"} for n in range(first, last)])
        where = da.col("customer_id").matches([f"{n:04}" for n in range(1, 11)])
        return service.client().scan_items("customer", attrs, where).collect()

    return use


LIMA = {"day_zone": "America/Lima", "source_timezone": "America/Lima"}
SCANS.table(
    {
        'scan.collect() with on_suspected_cap="split", where a part cannot be split': using(
            lambda: some_days((60,) * 8, maximum_rows=10),
            lambda service: by_day(service.client(), ["id", "code_status"], on_suspected_cap="split").collect(),
        ),
        'client.scan_codes(["id"], …, on_suspected_cap="split")': using(
            lambda: some_days((60,) * 8, maximum_rows=10),
            lambda service: by_day(service.client(), ["id"], on_suspected_cap="split").collect(),
        ),
        "scan.collect() of two days of which the longer has a round number of rows": using(
            lambda: some_days((1_000, 400)), lambda service: by_day(service.client(), ["id"]).collect()
        ),
        "search_codes(…) with known_row_cap": using(
            some_days,
            lambda service: service.client(known_row_cap=41).search_codes(["id"], allocated_time=da.on("2024-01-02")),
        ),
        "scan.collect() with known_row_cap": using(
            some_days, lambda service: by_day(service.client(known_row_cap=41), ["id"]).collect()
        ),
        "scan.to_arrow() with max_result_bytes=100": using(
            some_days, lambda service: by_day(service.client(max_result_bytes=100), ["id"]).to_arrow()
        ),
        "scan.collect() of days in another zone": using(
            stray,
            lambda service: (
                service.client().scan_codes(TIMES, allocated_time=da.days("2024-01-01", "2024-01-03")).collect()
            ),
        ),
        "client.search_codes(…) of a range whose first and last day may be excluded": using(
            lambda: some_days(day_comparison="inclusive"),
            lambda service: service.client(day_comparison="exclusive").search_codes(
                TIMES, allocated_time=da.after("2024-01-02")
            ),
        ),
        "client.search_codes(…) before a day, at a service that excludes more than that": using(
            lambda: some_days(day_comparison="exclusive"),
            lambda service: service.client(day_comparison="inclusive").search_codes(
                TIMES, allocated_time=da.until("2024-01-06")
            ),
        ),
        "client.search_codes(…) of the last day, at a service that cuts days in Lima": using(
            lambda: da.Sandbox.demo(until="2024-02-29", switches=LIMA),
            lambda service: service.client().search_codes(TIMES, allocated_time=da.until("2024-01-21")),
        ),
        "scan_items('customer', …) of ten ids, of which two have no row": using(
            da.Sandbox, of_ids(["customer_id", "name"], 1, 9)
        ),
        "scan_items('customer', ['name'], …) of ten ids, of which eight have no row": using(
            da.Sandbox, of_ids(["name"], 1, 3)
        ),
    }
)


@SCANS.of('scan.collect() with on_suspected_cap="split", where the parts have fewer rows')
def _fewer(_user: User) -> object:
    counts = {None: 1_000, 1: 0, 3: 400, 4: 500}

    def give(connection: Any, number: int) -> None:
        (group,) = server.requests[number].json["filters"]["OR"]
        asked = [condition["value"][0] for condition in group["AND"] if condition["column"] == "code_status"]
        status = asked[0] if asked else None
        rows = [{"id": f"{status}-{n}", "code_status": status or 3} for n in range(counts[status])]
        connection.sendall(response_of(rows))

    with serving(give) as server:
        client = da.Client(server.base_url, token="t", timezone="UTC")
        return client.scan_codes(["id", "code_status"], allocated_time=DAY, on_suspected_cap="split").collect()


NOTHING: dict[str, dict[str, Any]] = {
    "allocated_time=da.on('2999-01-01')": {"allocated_time": da.on("2999-01-01")},
    "code_status='available'": {"allocated_time": da.after("2024-01-01"), "code_status": "available"},
    "allocated_time=da.days('2024-01-01', '2024-01-04')": {"allocated_time": THREE},
}


def searching(conditions: dict[str, Any]) -> Callable[[Any], object]:
    return lambda client: client.search_codes(["id", "name"], **conditions)


for _label, _conditions in NOTHING.items():
    SCANS.responses({f"client.search_codes({_label}) that finds nothing": response_of([])}, searching(_conditions))


@SCANS.of("for row in awaited batches, without async")
def _not_async(_user: User) -> object:
    async def use() -> object:
        async with da.AsyncClient(ADDRESS, token="t") as client:
            return list(client.scan_codes(["id"], allocated_time=DAY).batches())  # type: ignore[call-overload]

    return asyncio.run(use())


SCANS.responses(
    {"client.search_codes(…) of many days within timeout": b""},
    lambda client: client.search_codes(["id"], allocated_time=THREE),
    timeout=0.1,
)
SCANS.responses(
    {"client.search_items(…) of exactly 2,000 rows": response_of([{"n": "x", "text": "x"}] * 2_000)},
)


@SCANS.of("scan.to_polars() without polars")
def _no_polars(user: User) -> object:
    user.patch.setitem(sys.modules, "polars", None)
    return user.client.scan_codes(["id"], allocated_time=DAY).to_polars()


SCANS.responses(
    {"scan_codes(['allocated_time'], …) of a time in another form": response_of([{"allocated_time": "15.01.2024"}])},
    lambda client: client.scan_codes(["allocated_time"], allocated_time=DAY).to_arrow(),
)
