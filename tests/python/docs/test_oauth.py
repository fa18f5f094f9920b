"""The OAuth callable of docs/configuration.md gets tokens from a real token endpoint, and keeps them."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
from support.pages import blocks

import dataaccess as da

BLOCK = next(
    block for name, block in blocks() if name.startswith("docs/configuration.md") and "TOKEN_URL" in block.parsed
)


class TokenEndpoint:
    """Issues tokens of a sandbox for ten minutes each, and keeps the forms that it received."""

    def __init__(self, sandbox: da.Sandbox) -> None:
        forms: list[dict[str, list[str]]] = []
        self.forms = forms

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                forms.append(form)
                body = json.dumps({"access_token": sandbox.issue_token(form["scope"][0].split()), "expires_in": 600})
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/oauth/token"


@pytest.fixture
def endpoint(dataaccess_sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenEndpoint]:
    endpoint = TokenEndpoint(dataaccess_sandbox)
    for name, value in {"CLIENT_ID": "etl", "CLIENT_SECRET": "secret", "TOKEN_URL": endpoint.url}.items():
        monkeypatch.setenv(name, value)
    thread = Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield endpoint
    endpoint.server.shutdown()
    thread.join()
    endpoint.server.server_close()


def test_the_callable_gets_a_token_at_the_first_request_only(
    endpoint: TokenEndpoint, dataaccess_sandbox: da.Sandbox
) -> None:
    BLOCK.namespace.clear()
    BLOCK.evaluate()
    client = da.Client(dataaccess_sandbox.base_url, token=BLOCK.namespace["oauth_token"])
    assert endpoint.forms == []

    for _ in range(3):
        assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"))

    wanted = {"grant_type": ["client_credentials"], "client_id": ["etl"], "client_secret": ["secret"]}
    assert endpoint.forms == [wanted | {"scope": ["item download"]}]
