"""Awaited calls that give one record, one at a time and 16 at a time: ours against aiohttp and pyreqwest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import aiohttp
import race
from clients import BODY, HEADERS, SINCE, TOKEN, Rows, Service, records_of
from expected import Expected
from prebuilt_server import PrebuiltServer
from pyreqwest.client import ClientBuilder
from race import US
from records import ATTRIBUTES
from report import Measure
from scale import Scale

import dataaccess as da

AT_ONCE = (1, 16)
Call = Callable[[], Awaitable[Rows]]


async def ours(service: Service, stack: AsyncExitStack) -> Call:
    """Our `search_codes`."""
    client = await stack.enter_async_context(da.AsyncClient(service.base_url, token=TOKEN, concurrency=None))
    return lambda: client.search_codes(ATTRIBUTES, allocated_time=SINCE)


async def with_aiohttp(service: Service, stack: AsyncExitStack) -> Call:
    """aiohttp, and the json module."""
    session = await stack.enter_async_context(aiohttp.ClientSession(headers=HEADERS))

    async def call() -> Rows:
        async with session.post(service.address, data=BODY) as response:
            return records_of(await response.json())

    return call


async def with_pyreqwest(service: Service, stack: AsyncExitStack) -> Call:
    """pyreqwest, and its own JSON."""
    builder = ClientBuilder().default_headers(HEADERS).timeout(timedelta(minutes=5))
    client = await stack.enter_async_context(builder.build())

    async def call() -> Rows:
        response = await client.post(service.address).body_bytes(BODY).build().send()
        return records_of(await response.json())

    return call


CLIENTS = {US: ours, "aiohttp": with_aiohttp, "pyreqwest": with_pyreqwest}


async def awaited(call: Call, calls: int, at_once: int) -> list[Rows]:
    """So many calls, shared among tasks that each await one after the other."""

    async def share() -> list[Rows]:
        return [await call() for _ in range(calls // at_once)]

    return [rows for found in await asyncio.gather(*[share() for _ in range(at_once)]) for rows in found]


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The races, in one loop."""
    service = Service(server.url("1"))
    check = Expected(service).check_answers(scale.calls)
    measures: list[Measure] = []
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        calls = {name: runner.run(connect(service, stack)) for name, connect in CLIENTS.items()}

        def contender(call: Call, at_once: int) -> Callable[[], list[Rows]]:
            return lambda: runner.run(awaited(call, scale.calls, at_once))

        for at_once in AT_ONCE:
            contenders = {name: contender(call, at_once) for name, call in calls.items()}
            task = f"one record, asyncio, {at_once} at a time"
            found = race.run(task, contenders, check, rounds=scale.call_rounds)
            measures += [*found.times("µs", scale.calls), found.over("aiohttp"), found.over("pyreqwest")]
        runner.run(stack.aclose())
    return measures
