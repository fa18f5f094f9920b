"""The OAuth callable of docs/configuration.md gets tokens from a token endpoint over HTTP, and keeps them."""

from urllib.parse import parse_qs

import pytest
from support.pages import blocks
from support.raw_server import always, http, serving

import dataaccess as da

BLOCK = next(
    block for name, block in blocks() if name.startswith("docs/configuration.md") and "TOKEN_URL" in block.parsed
)


def test_the_callable_gets_a_token_at_the_first_request_only(
    dataaccess_sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = {"access_token": dataaccess_sandbox.issue_token(["item", "download"]), "expires_in": 600}
    # `urlopen` reads to the end of the connection.
    with serving(always(http(issued, headers=("Connection: close",)))) as endpoint:
        for name, value in {"CLIENT_ID": "etl", "CLIENT_SECRET": "secret", "TOKEN_URL": endpoint.base_url}.items():
            monkeypatch.setenv(name, value)
        BLOCK.namespace.clear()
        BLOCK.evaluate()
        client = da.Client(dataaccess_sandbox.base_url, token=BLOCK.namespace["oauth_token"])
        assert endpoint.requests == []
        for _ in range(3):
            assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        (request,) = endpoint.requests
    wanted = {"grant_type": ["client_credentials"], "client_id": ["etl"], "client_secret": ["secret"]}
    assert parse_qs(request.body.decode()) == wanted | {"scope": ["item download"]}
