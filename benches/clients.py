"""The clients that Python has, each asking as its own guide would, over a connection that it keeps.

Each gives the records as a list of dicts. What is made of these is the benches' business.
"""

from __future__ import annotations

import asyncio
import atexit
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import msgspec
import orjson
import requests
import urllib3
from pyreqwest.client import SyncClientBuilder
from records import ATTRIBUTES

import dataaccess as da

Rows = list[dict[str, Any]]
Ask = Callable[[], Rows]
SINCE = da.after("2020-01-01")
BODY = orjson.dumps(da.validate_codes(ATTRIBUTES, allocated_time=SINCE))
TOKEN = "t"  # noqa: S105 - any will do
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Service:
    """Where the records are."""

    base_url: str
    ca_bundle: Path | None = None

    @property
    def address(self) -> str:
        """Where a search is sent."""
        return f"{self.base_url}/access/api/item/search"

    def client(self) -> da.Client:
        """Our client of it."""
        return da.Client(self.base_url, token=TOKEN, ca_bundle=self.ca_bundle, concurrency=None)

    def scan(self) -> da.Scan:
        """Our scan of all its records."""
        return self.client().scan_codes(ATTRIBUTES, allocated_time=SINCE)


def check_verdict(code: Any, status: Any) -> None:
    """Ends the bench unless a response reports success."""
    if code != 200 or status is not True:
        raise SystemExit(f"a bad answer: code {code}, status {status}")


def records_of(envelope: Any) -> Rows:
    """The records in a good response."""
    check_verdict(envelope["code"], envelope["data"]["status"])
    rows: Rows = envelope["data"]["data"]
    return rows


def drain(scan: da.Scan, rows: int) -> None:
    """Takes all records in batches, and keeps none; ends the bench unless there are so many."""
    found = sum(batch.num_rows for batch in scan.batches())
    if found != rows:
        raise SystemExit(f"{found} rows in the batches, not {rows}")


def with_requests(service: Service) -> Ask:
    """requests, and the json module."""
    session = requests.Session()
    session.headers.update(HEADERS)
    # Said with each request, since a variable of the environment overrules what the session says.
    verify = str(service.ca_bundle) if service.ca_bundle else True
    return lambda: records_of(session.post(service.address, data=BODY, verify=verify).json())


def body_with_urllib3(service: Service) -> Callable[[], bytes]:
    """urllib3 alone: the body as it came."""
    pool = urllib3.PoolManager(headers=HEADERS, ca_certs=service.ca_bundle and str(service.ca_bundle))
    return lambda: pool.request("POST", service.address, body=BODY).data


def with_urllib3_msgspec(service: Service) -> Ask:
    """urllib3, and msgspec."""
    fetch = body_with_urllib3(service)
    return lambda: records_of(msgspec.json.decode(fetch()))


def with_urllib3_orjson(service: Service) -> Ask:
    """urllib3, and orjson."""
    fetch = body_with_urllib3(service)
    return lambda: records_of(orjson.loads(fetch()))


def with_httpx(service: Service) -> Ask:
    """httpx, and the json module."""
    trusted = ssl.create_default_context(cafile=service.ca_bundle)
    client = httpx.Client(headers=HEADERS, timeout=300, verify=trusted)
    return lambda: records_of(client.post(service.address, content=BODY).json())


def with_pyreqwest(service: Service) -> Ask:
    """pyreqwest, another client with a Rust core, and its own JSON."""
    builder = SyncClientBuilder().default_headers(HEADERS).timeout(timedelta(minutes=5))
    if service.ca_bundle:
        builder = builder.add_root_certificate_pem(service.ca_bundle.read_bytes())
    client = builder.build()
    return lambda: records_of(client.post(service.address).body_bytes(BODY).build().send().json())


class Aiohttp:
    """aiohttp, and the json module; many searches are awaited in one run of its loop."""

    def __init__(self, service: Service) -> None:
        """Opens the session, which needs a loop, and closes it when the program ends."""
        self._service = service
        self._runner = asyncio.Runner()
        self._session = self._runner.run(self._open())
        atexit.register(self._close)

    def __call__(self) -> Rows:
        """One search."""
        return self.repeat(1)[0]

    def repeat(self, count: int) -> list[Rows]:
        """Searches one after the other."""
        return self._runner.run(self._repeat(count))

    async def _open(self) -> aiohttp.ClientSession:
        trusted = ssl.create_default_context(cafile=self._service.ca_bundle)
        connector = aiohttp.TCPConnector(ssl=trusted)
        return aiohttp.ClientSession(headers=HEADERS, connector=connector, timeout=aiohttp.ClientTimeout(300))

    async def _repeat(self, count: int) -> list[Rows]:
        found = []
        for _ in range(count):
            async with self._session.post(self._service.address, data=BODY) as response:
                found.append(records_of(await response.json()))
        return found

    def _close(self) -> None:
        self._runner.run(self._session.close())
        self._runner.close()


PYTHON: dict[str, Callable[[Service], Ask]] = {
    "requests": with_requests,
    "urllib3+msgspec": with_urllib3_msgspec,
    "urllib3+orjson": with_urllib3_orjson,
    "httpx": with_httpx,
    "aiohttp": Aiohttp,
    "pyreqwest": with_pyreqwest,
}
