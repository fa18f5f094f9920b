"""An S3 store on this machine: moto's server, behind a forwarder that can fail as stores and networks do."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

KEY = "AKIATESTTESTTESTTEST"
SECRET = "s3cret-of-the-tests-0123456789"
REGION = "us-east-1"

_buckets = count()


@contextmanager
def moto_server() -> Iterator[int]:
    """Runs moto's server in a process of its own. Gives its port."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"Running on http://127\.0\.0\.1:(\d+)", line):
                    break
            else:
                raise AssertionError("moto did not start")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield int(found[1])
        finally:
            process.kill()


@dataclass(frozen=True)
class Request:
    """A request to the store."""

    method: str
    path: str
    query: str
    headers: dict[str, str]


# What a hook makes of a request: None to forward it, a status and a body in its place, "close" for no response, "lost"
# for none although it was forwarded, or how long the store is silent before that.
Hook = Callable[[Request], tuple[int, str] | str | float | None]


@dataclass
class Store:
    """One bucket of the server, as its clients see it."""

    moto: int
    port: int
    bucket: str
    requests: list[Request] = field(default_factory=list)
    hook: Hook | None = None
    ignored_headers: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """The address of the forwarder."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> dict[str, str]:
        """`storage_options` for it."""
        return {
            "aws_endpoint_url": self.endpoint,
            "aws_allow_http": "true",
            "aws_access_key_id": KEY,
            "aws_secret_access_key": SECRET,
            "aws_region": REGION,
        }

    @property
    def environment(self) -> dict[str, str]:
        """The same as variables."""
        return {name.upper(): value for name, value in self.options.items()}

    def url(self, name: str = "codes") -> str:
        """The URL of an object or folder."""
        return f"s3://{self.bucket}/{name}"

    def names(self) -> list[str]:
        """The names of all objects."""
        listing = self._direct("GET", "?list-type=2").decode()
        return sorted(unescape(name) for name in re.findall("<Key>(.*?)</Key>", listing))

    def get(self, name: str) -> bytes:
        """The content of an object."""
        return self._direct("GET", f"/{quote(name)}")

    def put(self, name: str, content: bytes) -> None:
        """Makes an object."""
        self._direct("PUT", f"/{quote(name)}", content)

    def delete(self, name: str) -> None:
        """Removes an object."""
        self._direct("DELETE", f"/{quote(name)}")

    def make(self) -> None:
        """Makes the bucket."""
        self._direct("PUT", "")

    def _direct(self, method: str, path: str, body: bytes = b"") -> bytes:
        """A request past the forwarder. Moto compares no signature."""
        authorization = (
            f"AWS4-HMAC-SHA256 Credential={KEY}/20240101/{REGION}/s3/aws4_request, SignedHeaders=host, Signature=0"
        )
        connection = http.client.HTTPConnection("127.0.0.1", self.moto, timeout=30)
        try:
            connection.request(method, f"/{self.bucket}{path}", body, {"Authorization": authorization})
            response = connection.getresponse()
            content = response.read()
            assert response.status < 300, content
            return content
        finally:
            connection.close()

    def ids(self, folder: str = "codes") -> list[str]:
        """The ids in all parts of a folder, one after the other."""
        # The environment of Airflow has no pyarrow.
        import pyarrow.parquet as pq

        parts = [name for name in self.names() if name.startswith(f"{folder}/") and name.endswith(".parquet")]
        tables = [pq.ParquetFile(BytesIO(self.get(part))).read(["id"]) for part in parts]
        return [text for table in tables for text in table["id"].to_pylist()]


class _Forwarder(BaseHTTPRequestHandler):
    """Forwards requests to moto's server, as far as the hook of its store lets them."""

    protocol_version = "HTTP/1.1"
    store: Store

    def log_message(self, *_arguments: Any) -> None:
        """Nothing is printed."""

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, {name.lower(): text for name, text in self.headers.items()})
        self.store.requests.append(request)
        outcome = self.store.hook(request) if self.store.hook is not None else None
        if isinstance(outcome, float):
            self.close_connection = True
            time.sleep(outcome)
        elif outcome == "close":
            self.close_connection = True
        elif isinstance(outcome, tuple):
            status, text = outcome
            self._reply(status, [("Content-Type", "application/xml")], text.encode())
        else:
            self._forward(body, is_lost=outcome == "lost")

    def _forward(self, body: bytes, *, is_lost: bool) -> None:
        ignored = self.store.ignored_headers
        headers = {name: text for name, text in self.headers.items() if name.lower() not in ignored}
        connection = http.client.HTTPConnection("127.0.0.1", self.store.moto, timeout=30)
        try:
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            if is_lost:
                self.close_connection = True
            else:
                self._reply(response.status, response.getheaders(), response.read())
        finally:
            connection.close()

    def _reply(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        is_head = self.command == "HEAD"
        for name, text in headers:
            if name.lower() not in {"connection", "transfer-encoding"} | (set() if is_head else {"content-length"}):
                self.send_header(name, text)
        if not is_head:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if not is_head:
            self.wfile.write(content)


for _method in ("GET", "PUT", "POST", "DELETE", "HEAD"):
    setattr(_Forwarder, f"do_{_method}", _Forwarder.forward)


@contextmanager
def forwarded(moto: int) -> Iterator[Store]:
    """A new bucket of the server, behind a forwarder."""
    store = Store(moto, 0, f"bucket-{next(_buckets)}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Forwarder", (_Forwarder,), {"store": store}))
    server.daemon_threads = True
    store.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        store.make()
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def error(code: str, message: str = "no") -> str:
    """The body of a response of S3 that refuses."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'


def temporary_files(folder: Path) -> list[str]:
    """What a folder for temporary files holds of ours."""
    return [path.name for path in folder.iterdir() if "dataaccess" in path.name]
