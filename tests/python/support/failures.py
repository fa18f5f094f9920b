"""Every kind of failure, each with secrets in all the places where a user can put them."""

from __future__ import annotations

import socket
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from support.raw_server import RESPONSE, Close, always, http, in_turn, reset, serving

import dataaccess as da

TOKEN = "tok-Zx81-9f3b77c2d1e04a55b6c8"
PASSWORD = "hunter2-Qk77-f00dfeed"
KEY = "key-51f0a9b8c7d6e5f4"
# A row's value, and one of a filter: customers' data.
ROW = "row-value-4711-jane.doe"
ASKED = "asked-value-0815-john.roe"
SECRETS = (TOKEN, PASSWORD, KEY)

ROWS = http({**RESPONSE, "data": {"status": True, "data": [{"id": ROW}, {"id": ROW}]}})
DENIED = http({"code": 301, "message": "Permission denied", "data": "no"}, "403 Forbidden")
BUSY = http(b"", "503 Busy", headers=("Retry-After: 0",))


def cut(data: bytes) -> Any:
    def respond(connection: Any, _number: int) -> None:
        connection.sendall(data)
        raise Close

    return respond


def torn(connection: Any, _number: int) -> None:
    connection.sendall(ROWS[:-5])
    reset(connection)


def stalling(connection: Any, _number: int) -> None:
    connection.sendall(ROWS[:-5])
    connection.recv(1)


def echo(status: str) -> Any:
    """Says the token back, as a gateway in debug mode does."""
    return always(http(f"<pre>Authorization: Bearer {TOKEN}</pre>".encode(), status))


def echo_in_envelope(code: int) -> Any:
    return always(http({"code": code, "message": f"no such token {TOKEN}", "data": None}, "400 Bad Request"))


def echo_cut_by_the_excerpt(connection: Any, _number: int) -> None:
    connection.sendall(http(b"x" * 185 + TOKEN.encode(), "500 Broken"))


# The server's response, and the options that differ.
RESPONSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "nothing fails": (always(ROWS), {}),
    "busy, then well": (in_turn(BUSY, ROWS), {}),
    "refused token": (always(DENIED), {}),
    "401": (always(http(b"", "401 Unauthorized")), {}),
    "html 403": (always(http(b"<html>no", "403 Forbidden")), {}),
    "500": (always(http(b"", "500 Broken")), {}),
    "429": (always(http(b"", "429 Slow", headers=("Retry-After: 0",))), {}),
    "redirect": (always(http(b"", "307 Moved", headers=("Location: http://127.0.0.2:9/x",))), {}),
    "closed": (cut(b""), {}),
    "cut": (cut(ROWS[:-5]), {}),
    "reset": (torn, {}),
    "half the headers": (cut(ROWS[:30]), {}),
    "no http": (cut(b"220 mail ready\r\n\r\n"), {}),
    "deadline": (stalling, {"timeout": 0.2}),
    "not json": (always(http(b"<html>login", content_type="text/html")), {}),
    "broken json": (always(ROWS[:-1] + b"]"), {}),
    "a value that is none": (always(ROWS.replace(b'"}]', b'\\ud800"}]').replace(b"Length: ", b"Length: 0")), {}),
    "another shape": (always(http({"code": 200, "data": ROW})), {}),
    "rows in a 400": (always(http({"rows": [{"id": ROW}]}, "400 Bad")), {}),
    "rows in a 502": (always(http([ROW], "502 Bad")), {}),
    "rows as text in a 500": (always(http(ROW.encode(), "500 Broken", content_type="text/csv")), {}),
    "rows as text in a 200": (always(http(f"id\n{ROW}".encode(), content_type="text/csv")), {}),
    "rows in place of a status": (always(http({"code": 200, "data": {"status": ROW, "data": []}})), {}),
    "rows in place of a code": (always(http({"code": ROW, "data": []})), {}),
    "rows in place of a message": (always(http({"code": 500, "message": [ROW], "data": []}, "400 Bad")), {}),
    "too large": (always(ROWS), {"max_result_bytes": 20}),
    "echo in a 500": (echo("500 Broken"), {}),
    "echo in a 400": (echo("400 Bad"), {}),
    "echo in a 200": (echo("200 OK"), {}),
    "echo in an envelope": (echo_in_envelope(400), {}),
    "echo in a refusal": (echo_in_envelope(301), {}),
    "echo in a URL": (
        always(http(f"/login?token={quote(TOKEN, safe='').replace('-', '%2D')}".encode(), "400 Bad")),
        {},
    ),
    "echo in base64": (always(http(b64encode(f"Bearer {TOKEN}".encode()), "400 Bad")), {}),
    "echo cut by the excerpt": (echo_cut_by_the_excerpt, {}),
}


def _ask(client: da.Client) -> object:
    return client.search_items("customer", ["id"], da.col("id").equals(ASKED))


def _client(address: str, **options: Any) -> da.Client:
    given = {"token": TOKEN, "retry_for": 0.05, "headers": {"X-Api-Key": KEY}, **options}
    return da.Client(address, **given)


@contextmanager
def _nobody() -> Iterator[str]:
    """An address without a listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def _responded(name: str) -> object:
    respond, options = RESPONSES[name]
    with serving(respond) as server:
        return _ask(_client(server.base_url, **options))


def _refused() -> object:
    with _nobody() as address:
        return _ask(_client(f"http://{address}"))


def _unknown_host() -> object:
    return _ask(_client("https://cdp.invalid", retry_for=0))


def _no_tls() -> object:
    with serving(cut(b"220 mail ready\r\n")) as server:
        return _ask(_client(server.base_url.replace("http:", "https:"), timeout=0.5))


def _proxy_refused() -> object:
    with _nobody() as address:
        return _ask(_client("https://cdp.example.com", proxy=f"http://user:{PASSWORD}@{address}", retry_for=0))


def _proxy_says_no() -> object:
    with serving(always(http(b"", "407 Who are you"))) as server:
        address = server.base_url.replace("http://", f"http://user:{PASSWORD}@")
        return _ask(_client("https://cdp.example.com", proxy=address, retry_for=0))


def _proxy_echoes() -> object:
    with serving(always(http(f"Bearer {TOKEN}".encode(), "502 Bad"))) as server:
        address = server.base_url.replace("http://", f"http://user:{PASSWORD}@")
        return _ask(_client("http://cdp.example.com", proxy=address, allow_http=True, retry_for=0))


def _proxy_of_no_kind() -> object:
    return _client("https://cdp.example.com", proxy=f"gopher://user:{PASSWORD}@proxy")


def _options_that_are_refused() -> object:
    proxy = f"gopher://user:{PASSWORD}@proxy"
    return _client("https://cdp.example.com").with_options(proxy=proxy, headers={"X-Api-Key": KEY})


def _options_with_an_address_of_no_use() -> object:
    return _client("https://cdp.example.com").with_options(base_url=f"https://user:{PASSWORD}@cdp.example.com")


def _address_with_a_password() -> object:
    return _client(f"https://user:{PASSWORD}@cdp.example.com")


def _plain_http() -> object:
    return _client("http://cdp.example.com")


def _bad_header() -> object:
    return _client("https://cdp.example.com", headers={"X-Api-Key": f"{KEY}\r\nX-Evil: 1"})


def _bad_token() -> object:
    return _client("https://cdp.example.com", token=f"{TOKEN}\r\n")


def _bad_token_of_a_callable() -> object:
    with serving(always(ROWS)) as server:
        return _ask(_client(server.base_url, token=lambda: f"{TOKEN}\n"))


def _callable_that_raises() -> object:
    def token() -> str:
        raise LookupError("no vault")

    with serving(always(ROWS)) as server:
        return _ask(_client(server.base_url, token=token))


def _validation() -> object:
    return _client("https://cdp.example.com").search_codes(allocated_time=da.on("2024-01-15"), code_status=7)


def _closed() -> object:
    client = _client("https://cdp.example.com")
    client.close()
    return _ask(client)


def _stream_breaks_off() -> object:
    rows = b",".join([b'{"id":"%s"}' % ROW.encode()] * 300)
    with serving(cut(http(b'{"code":200,"data":{"status":true,"data":[' + rows))) as server:
        return list(
            _client(server.base_url).scan_items("customer", ["id"], da.col("id").equals(ASKED)).batches(max_rows=100)
        )


def _misfit() -> object:
    rows = b'{"id":1},{"id":"%s"}' % ROW.encode()
    with serving(always(http(b'{"code":200,"data":{"status":true,"data":[' + rows + b"]}}"))) as server:
        where = da.col("id").equals(ASKED)
        scan = _client(server.base_url).scan_items("customer", ["id"], where, schema={"id": "int64"})
        return scan.to_arrow()


OTHERS: dict[str, Callable[[], object]] = {
    name.removeprefix("_").replace("_", " "): act
    for name, act in list(globals().items())
    if name.startswith("_")
    and not name.startswith("__")
    and callable(act)
    and act is not _ask
    and name not in {"_client", "_nobody", "_responded"}
}


def failing(name: str) -> tuple[BaseException | None, list[str]]:
    """What a failure raises, and what was warned of meanwhile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            OTHERS[name]() if name in OTHERS else _responded(name)
        except BaseException as error:
            return error, [str(warning.message) for warning in caught]
    return None, [str(warning.message) for warning in caught]


def throttled(*headers: str, status: str = "429 Slow") -> bytes:
    return http(b"", status, headers=headers)
