"""An S3 and STS server in this process, which records who signed each request, and can refuse some."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import boto3

_buckets = count()
# The access key of this module.
_OBSERVER = "observer"


@dataclass(frozen=True)
class Request:
    """A request to the server.

    Attributes:
        method: Its HTTP method.
        path: Its path; of a request to S3, it begins with the bucket.
        key: The access key of its signature; empty without one.
        token: Its session token; empty without one.
        authorization: The header.
    """

    method: str
    path: str
    key: str
    token: str
    authorization: str


@dataclass
class Store:
    """The server, and a bucket of it."""

    url: str
    bucket: str = ""
    requests: list[Request] = field(default_factory=list)
    # The status and body of a response in place of that of the server.
    respond: Callable[[Request], tuple[str, str] | None] = lambda _request: None

    def make(self) -> None:
        """Makes a new bucket, and forgets the requests of others."""
        self.bucket = f"warehouse-{next(_buckets)}"
        self._objects.create()
        self.requests.clear()

    @property
    def names(self) -> list[str]:
        """The names of all objects."""
        return sorted(found.key for found in self._objects.objects.all())

    def get(self, name: str) -> bytes:
        """The content of an object."""
        content: bytes = self._objects.Object(name).get()["Body"].read()
        return content

    @property
    def keys(self) -> set[str]:
        """The access keys with which others requested the objects of the bucket."""
        found = [request.key for request in self.requests if request.path.startswith(f"/{self.bucket}")]
        return set(found) - {_OBSERVER}

    @property
    def _objects(self) -> Any:
        keys = {"aws_access_key_id": _OBSERVER, "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        return boto3.resource("s3", endpoint_url=self.url, **keys).Bucket(self.bucket)


@contextmanager
def running_store() -> Iterator[Store]:
    """Runs the server."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Silent(WSGIRequestHandler):
        def log(self, *_arguments: Any) -> None:
            """Prints nothing."""

    application = DomainDispatcherApplication(create_backend_app)

    def recorded(environ: dict[str, Any], start_response: Any) -> Any:
        authorization = environ.get("HTTP_AUTHORIZATION", "")
        found = re.search("Credential=([^/]+)/", authorization)
        request = Request(
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"],
            found[1] if found else "",
            environ.get("HTTP_X_AMZ_SECURITY_TOKEN", ""),
            authorization,
        )
        store.requests.append(request)
        response = store.respond(request)
        if response is None:
            return application(environ, start_response)
        status, body = response
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
        return [body.encode()]

    server = make_server("127.0.0.1", 0, recorded, threaded=True, request_handler=Silent)
    store = Store(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
