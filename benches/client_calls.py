"""Calls that give one record over kept connections: one after the other, and from many threads at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import race
from clients import PYTHON, SINCE, Aiohttp, Ask, Rows, Service, records_of
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US
from records import ATTRIBUTES
from report import Measure
from scale import Scale

import dataaccess as da

THREADS = 16


def search(service: Service) -> Ask:
    """Our search."""
    client = service.client()
    return lambda: client.search_codes(ATTRIBUTES, allocated_time=SINCE)


def post(service: Service) -> Ask:
    """Our `post`."""
    client, body = service.client(), da.validate_codes(ATTRIBUTES, allocated_time=SINCE)
    return lambda: records_of(client.post("/access/api/item/search", body))


def repeated(ask: Ask, calls: int) -> Callable[[], list[Rows]]:
    """So many calls, one after the other."""
    if isinstance(ask, Aiohttp):
        return lambda: ask.repeat(calls)
    return lambda: [ask() for _ in range(calls)]


def threaded(ask: Ask, calls: int, pool: ThreadPoolExecutor) -> Callable[[], list[Rows]]:
    """So many calls, shared among threads."""
    share = repeated(ask, calls // THREADS)
    return lambda: [rows for found in pool.map(lambda _: share(), range(THREADS)) for rows in found]


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The race of single calls, and the one of many threads."""
    service = Service(server.url("1"))
    check = Expected(service).check_answers(scale.calls)
    asks = {"search_codes": search(service), "post": post(service)}
    ours = list(asks)
    asks |= {name: connect(service) for name, connect in PYTHON.items()}
    single = {name: repeated(ask, scale.calls) for name, ask in asks.items()}
    found = race.run("one record", single, check, rounds=scale.call_rounds)
    measures = found.times("µs", scale.calls)
    measures += [found.over(name, "pyreqwest") for name in ours] + [found.over("requests", name) for name in ours]
    with ThreadPoolExecutor(THREADS) as pool:
        shared = {
            US: threaded(asks["search_codes"], scale.calls, pool),
            "post": threaded(asks["post"], scale.calls, pool),
            "pyreqwest": threaded(asks["pyreqwest"], scale.calls, pool),
            "one thread": single["search_codes"],
        }
        found = race.run(f"one record, {THREADS} threads", shared, check, rounds=scale.call_rounds)
    return [
        *measures,
        *found.times("µs", scale.calls),
        found.over(US, "pyreqwest"),
        found.over("post", "pyreqwest"),
        found.over("one thread"),
    ]
