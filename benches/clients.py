"""The clients of the benches. Each sends the same search, as its own guide shows, over a connection that it keeps."""

from __future__ import annotations

import asyncio
import atexit
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import httpx
import msgspec
import orjson
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.json
import requests
import urllib3
from pyreqwest.client import ClientBuilder, SyncClientBuilder
from records import ATTRIBUTES

import dataaccess as da

Rows = list[dict[str, Any]]
Call = Callable[[], Rows]
Awaited = Callable[[], Awaitable[Rows]]
US = "dataaccess"
SEARCH = "/access/api/item/search"
SINCE = da.after("2020-01-01")
REQUEST = da.validate_codes(ATTRIBUTES, allocated_time=SINCE)
BODY = orjson.dumps(REQUEST)
TOKEN = "t"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
TIMEOUT = timedelta(minutes=5)
# The loop of all awaited clients, and their connections.
RUNNER, STACK = asyncio.Runner(), AsyncExitStack()
atexit.register(RUNNER.close)
atexit.register(lambda: RUNNER.run(STACK.aclose()))


class Service(NamedTuple):
    base_url: str
    ca_bundle: Path | None = None

    @property
    def address(self) -> str:
        return self.base_url + SEARCH

    def client(self) -> da.Client:
        return da.Client(self.base_url, token=TOKEN, ca_bundle=self.ca_bundle, timezone="UTC", concurrency=None)

    def scan(self) -> da.Scan:
        return self.client().scan_codes(ATTRIBUTES, allocated_time=SINCE)


def check_success(code: Any, status: Any) -> None:
    if code != 200 or status is not True:
        raise SystemExit(f"no success: code {code}, status {status}")


def rows_of(envelope: Any) -> Rows:
    check_success(envelope["code"], envelope["data"]["status"])
    rows: Rows = envelope["data"]["data"]
    return rows


def fetching(service: Service) -> Callable[[], bytes]:
    """The body of a response, by urllib3."""
    pool = urllib3.PoolManager(headers=HEADERS, ca_certs=service.ca_bundle and str(service.ca_bundle))
    return lambda: pool.request("POST", service.address, body=BODY).data


def connect(service: Service) -> dict[str, Call]:
    """The other clients. Those without a parser of their own use the json module."""
    address, ca_bundle = service.address, service.ca_bundle
    fetch, awaiting = fetching(service), RUNNER.run(await_aiohttp(service))
    session = requests.Session()
    session.headers.update(HEADERS)
    # An argument of each request: a variable of the environment would replace an attribute of the session.
    verify = str(ca_bundle) if ca_bundle else True
    context = ssl.create_default_context(cafile=ca_bundle)
    client = httpx.Client(headers=HEADERS, timeout=TIMEOUT.total_seconds(), verify=context)
    builder = SyncClientBuilder().default_headers(HEADERS).timeout(TIMEOUT)
    rust = (builder.add_root_certificate_pem(ca_bundle.read_bytes()) if ca_bundle else builder).build()
    return {
        "requests": lambda: rows_of(session.post(address, data=BODY, verify=verify).json()),
        "urllib3+msgspec": lambda: rows_of(msgspec.json.decode(fetch())),
        "urllib3+orjson": lambda: rows_of(orjson.loads(fetch())),
        "httpx": lambda: rows_of(client.post(address, content=BODY).json()),
        "aiohttp": lambda: RUNNER.run(repeated(awaiting))[0],
        "pyreqwest": lambda: rows_of(rust.post(address).body_bytes(BODY).build().send().json()),
    }


async def await_us(service: Service) -> Awaited:
    client = da.AsyncClient(service.base_url, token=TOKEN, timezone="UTC", concurrency=None)
    await STACK.enter_async_context(client)
    return lambda: client.search_codes(ATTRIBUTES, allocated_time=SINCE)


async def await_aiohttp(service: Service) -> Awaited:
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=service.ca_bundle))
    timeout = aiohttp.ClientTimeout(TIMEOUT.total_seconds())
    session = aiohttp.ClientSession(headers=HEADERS, connector=connector, timeout=timeout)
    await STACK.enter_async_context(session)

    async def call() -> Rows:
        async with session.post(service.address, data=BODY) as response:
            return rows_of(await response.json())

    return call


async def await_pyreqwest(service: Service) -> Awaited:
    client = await STACK.enter_async_context(ClientBuilder().default_headers(HEADERS).timeout(TIMEOUT).build())

    async def call() -> Rows:
        response = await client.post(service.address).body_bytes(BODY).build().send()
        return rows_of(await response.json())

    return call


async def repeated(call: Awaited, calls: int = 1, at_once: int = 1) -> list[Rows]:
    """So many calls, shared among tasks that each await one after the other."""

    async def share() -> list[Rows]:
        return [await call() for _ in range(calls // at_once)]

    return [rows for found in await asyncio.gather(*[share() for _ in range(at_once)]) for rows in found]


def read_by_polars(body: bytes) -> pl.DataFrame:
    envelope = pl.read_json(body).unnest("data")
    check_success(envelope["code"][0], envelope["status"][0])
    return envelope.select(pl.col("data").explode()).unnest("data")


def read_by_pyarrow(body: bytes) -> pa.Table:
    options = pyarrow.json.ReadOptions(block_size=len(body) + 1)
    envelope = pyarrow.json.read_json(pa.BufferReader(body), read_options=options)
    data = envelope["data"].combine_chunks()
    check_success(envelope["code"][0].as_py(), data.field("status")[0].as_py())
    return pa.Table.from_struct_array(data.field("data").flatten())


def to_frames(service: Service) -> dict[str, dict[str, Callable[[], Any]]]:
    """By the kind of frame: the way of each client to it."""
    scan, calls, fetch = service.scan(), connect(service), fetching(service)
    found: dict[str, dict[str, Callable[[], Any]]] = {
        "pandas": {US: scan.to_pandas, "urllib3+pyarrow": lambda: read_by_pyarrow(fetch()).to_pandas()},
        "polars": {
            US: scan.to_polars,
            "urllib3+pyarrow": lambda: pl.from_arrow(read_by_pyarrow(fetch())),
            "urllib3+polars": lambda: read_by_polars(fetch()),
        },
        "pyarrow": {US: scan.to_arrow, "urllib3+pyarrow": lambda: read_by_pyarrow(fetch())},
    }
    makers: dict[str, Callable[[Any], Any]] = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.Table.from_pylist,
    }
    for kind, make in makers.items():
        for name, call in calls.items():
            found[kind][name] = chain(call, make)
    return found


def chain(give: Callable[[], Any], make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: make(give())
