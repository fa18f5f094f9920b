"""Calls that give one record over kept connections: one after the other, and from many threads at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import race
from clients import PYTHON, SINCE, Aiohttp, Ask, Rows, Service
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US
from records import ATTRIBUTES
from report import Measure
from scale import Scale

THREADS = 16


def ours(service: Service) -> Ask:
    """Our call."""
    client = service.client()
    return lambda: client.search_codes(ATTRIBUTES, allocated_time=SINCE)


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
    expected = Expected(service)

    def check(answers: list[Rows]) -> None:
        if len(answers) != scale.calls:
            raise SystemExit(f"{len(answers)} answers to {scale.calls} calls")
        for rows in answers:
            expected.check_rows(rows)

    asks = {US: ours(service), **{name: connect(service) for name, connect in PYTHON.items()}}
    single = {name: repeated(ask, scale.calls) for name, ask in asks.items()}
    found = race.run("one record", single, check, rounds=scale.call_rounds)
    measures = [*found.times("µs", scale.calls), found.cost(US, found.best_other(), 1.1), found.gain("requests", 4)]
    with ThreadPoolExecutor(THREADS) as pool:
        shared = {name: threaded(asks[name], scale.calls, pool) for name in (US, "pyreqwest")}
        shared["one thread"] = single[US]
        found = race.run(f"one record, {THREADS} threads", shared, check, rounds=scale.call_rounds)
    return [*measures, *found.times("µs", scale.calls), found.gain("pyreqwest", 1.5), found.gain("one thread", 1)]
