"""An S3 store on this machine: moto's server, behind a forwarder that can fail as stores and networks do."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection, HTTPResponse
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from support.raw_server import Close, Request, http, serving

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
        return f"s3://{self.bucket}/{name}"

    def names(self) -> list[str]:
        listing = self._direct("GET", "?list-type=2").decode()
        return sorted(unescape(name) for name in re.findall("<Key>(.*?)</Key>", listing))

    def get(self, name: str) -> bytes:
        return self._direct("GET", f"/{quote(name)}")

    def put(self, name: str, content: bytes) -> None:
        self._direct("PUT", f"/{quote(name)}", content)

    def delete(self, name: str) -> None:
        self._direct("DELETE", f"/{quote(name)}")

    def make(self) -> None:
        self._direct("PUT", "")

    def sent(self, method: str, target: str, body: bytes, headers: dict[str, str]) -> tuple[HTTPResponse, bytes]:
        """What moto responds, and the content of that."""
        with closing(HTTPConnection("127.0.0.1", self.moto, timeout=30)) as connection:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            return response, response.read()

    def _direct(self, method: str, path: str, body: bytes = b"") -> bytes:
        """A request past the forwarder. Moto compares no signature."""
        credential = f"Credential={KEY}/20240101/{REGION}/s3/aws4_request"
        headers = {"Authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0"}
        response, content = self.sent(method, f"/{self.bucket}{path}", body, headers)
        assert response.status < 300, content
        return content

    def ids(self, folder: str = "codes") -> list[str]:
        """The ids in all parts of a folder, one after the other."""
        # The environment of Airflow has no pyarrow.
        import pyarrow.parquet as pq

        parts = [name for name in self.names() if name.startswith(f"{folder}/") and name.endswith(".parquet")]
        tables = [pq.ParquetFile(BytesIO(self.get(part))).read(["id"]) for part in parts]
        return [text for table in tables for text in table["id"].to_pylist()]


@contextmanager
def forwarded(moto: int) -> Iterator[Store]:
    """A new bucket of the server, behind a forwarder, which forwards as far as the hook of the store lets it."""

    def respond(connection: Any, number: int) -> None:
        request = server.requests[number]
        store.requests.append(request)
        outcome = store.hook(request) if store.hook is not None else None
        if isinstance(outcome, float):
            time.sleep(outcome)
            raise Close
        if isinstance(outcome, tuple):
            status, text = outcome
            refusal = http(text.encode(), f"{status} Refused", content_type="application/xml")
            connection.sendall(refusal.removesuffix(text.encode()) if request.method == "HEAD" else refusal)
        elif outcome == "close":
            raise Close
        else:
            forward(request, connection, is_lost=outcome == "lost")

    def forward(request: Request, connection: Any, *, is_lost: bool) -> None:
        headers = {name: text for name, text in request.headers.items() if name not in store.ignored_headers}
        target = f"{request.path}?{request.query}" if request.query else request.path
        response, content = store.sent(request.method, target, request.body, headers)
        if is_lost:
            raise Close
        dropped = {"connection", "transfer-encoding"} | (set() if request.method == "HEAD" else {"content-length"})
        kept = [f"{name}: {text}" for name, text in response.getheaders() if name.lower() not in dropped]
        if request.method != "HEAD":
            kept.append(f"Content-Length: {len(content)}")
        connection.sendall("\r\n".join([f"HTTP/1.1 {response.status} Forwarded", *kept, "", ""]).encode() + content)

    with serving(respond) as server:
        store = Store(moto, server.port, f"bucket-{next(_buckets)}")
        store.make()
        yield store


def error(code: str, message: str = "no") -> str:
    """The body of a response of S3 that refuses."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'


def temporary_files(folder: Path) -> list[str]:
    """What a folder for temporary files holds of ours."""
    return [path.name for path in folder.iterdir() if "dataaccess" in path.name]
