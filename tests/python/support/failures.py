"""Every kind of failure, each with secrets in all the places where a user can put them."""

from __future__ import annotations

import json
import tempfile
import warnings
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from support.programs import free_port
from support.raw_server import RESPONSE, Responder, always, closing, http, in_turn, resetting, serving, silent

import dataaccess as da

TOKEN = "tok-Zx81-9f3b77c2d1e04a55b6c8"
PASSWORD = "hunter2-Qk77-f00dfeed"
KEY = "key-51f0a9b8c7d6e5f4"
# A row's value, and one of a filter: customers' data.
ROW = "row-value-4711-jane.doe"
ASKED = "asked-value-0815-john.roe"
# A line of a private key.
PEM = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg"
COOKIE = "CookieSecret99-7f2a"
SESSION = "q9/Zz+secret-x8"
HEADERS = {"X-Api-Key": KEY, "Cookie": f"theme=dark; sid={COOKIE}", "X-Session": SESSION}
SECRETS = (TOKEN, PASSWORD, KEY, PEM, COOKIE, SESSION, SESSION.replace("/", "\\/"))

ROWS = http({**RESPONSE, "data": {"status": True, "data": [{"id": ROW}, {"id": ROW}]}})
DENIED = http({"code": 301, "message": "Permission denied", "data": "no"}, "403 Forbidden")
BUSY = http(b"", "503 Busy", headers=("Retry-After: 0",))


def echo(status: str) -> Responder:
    """Says the token back, as a gateway in debug mode does."""
    return always(http(f"<pre>Authorization: Bearer {TOKEN}</pre>".encode(), status))


# Gateways quote a wrong key in any of them.
STATUSES = ("200 OK", "400 Bad", "401 No", "403 No", "429 Slow", "500 Bad", "503 Down")


def echo_of_all(status: str) -> Responder:
    """Says the token and the headers back in each text that an error has, escaped as JSON may be."""
    said = f"bad Bearer {TOKEN} " + " ".join(HEADERS.values())
    body = json.dumps({"code": 4, "message": said, "data": said, "codeMessage": said}).replace("/", "\\/")
    return always(http(body.encode(), status, headers=(f"WWW-Authenticate: {said}", f"Proxy-Status: {said}")))


def echo_in_envelope(code: int) -> Responder:
    return always(http({"code": code, "message": f"no such token {TOKEN}", "data": None}, "400 Bad Request"))


RESPONSES: dict[str, Responder] = {
    "nothing fails": always(ROWS),
    "busy, then well": in_turn(BUSY, ROWS),
    "refused token": always(DENIED),
    "401": always(http(b"", "401 Unauthorized")),
    "html 403": always(http(b"<html>no", "403 Forbidden")),
    "500": always(http(b"", "500 Broken")),
    "429": always(http(b"", "429 Slow", headers=("Retry-After: 0",))),
    "redirect": always(http(b"", "307 Moved", headers=("Location: http://127.0.0.2:9/x",))),
    "closed": closing(b""),
    "cut": closing(ROWS[:-5]),
    "reset": resetting(ROWS[:-5]),
    "half the headers": closing(ROWS[:30]),
    "no http": closing(b"220 mail ready\r\n\r\n"),
    "deadline": silent(ROWS[:-5]),
    "not json": always(http(b"<html>login", content_type="text/html")),
    "broken json": always(ROWS[:-1] + b"]"),
    "a value that is none": always(ROWS.replace(b'"}]', b'\\ud800"}]').replace(b"Length: ", b"Length: 0")),
    "another shape": always(http({"code": 200, "data": ROW})),
    "rows in a 400": always(http({"rows": [{"id": ROW}]}, "400 Bad")),
    "rows in a 502": always(http([ROW], "502 Bad")),
    "rows as text in a 500": always(http(ROW.encode(), "500 Broken", content_type="text/csv")),
    "rows as text in a 200": always(http(f"id\n{ROW}".encode(), content_type="text/csv")),
    "rows as the status": always(http({"code": 200, "data": {"status": ROW, "data": []}})),
    "rows as the code": always(http({"code": ROW, "data": []})),
    "rows as the message": always(http({"code": 500, "message": [ROW], "data": []}, "400 Bad")),
    "too large": always(ROWS),
    **{f"echo of all in a {status}": echo_of_all(status) for status in STATUSES},
    "echo in a 500": echo("500 Broken"),
    "echo in a 400": echo("400 Bad"),
    "echo in a 200": echo("200 OK"),
    "echo in an envelope": echo_in_envelope(400),
    "echo in a refusal": echo_in_envelope(301),
    "echo in a URL": always(http(f"/login?token={quote(TOKEN, safe='').replace('-', '%2D')}".encode(), "400 Bad")),
    "echo in base64": always(http(b64encode(f"Bearer {TOKEN}".encode()), "400 Bad")),
    "echo cut by the excerpt": always(http(b"x" * 185 + TOKEN.encode(), "500 Broken")),
}
# Those that differ.
OPTIONS: dict[str, dict[str, Any]] = {"deadline": {"timeout": 0.2}, "too large": {"max_result_bytes": 20}}

SITE = "https://cdp.example.com"


def _client(address: str, **options: Any) -> da.Client:
    return da.Client(address, **{"token": TOKEN, "retry_for": 0.05, "headers": HEADERS, **options})


def _ask(client: da.Client) -> object:
    return client.search_items("customer", ["id"], da.col("id").equals(ASKED))


def _scan(client: da.Client, **options: Any) -> da.Scan:
    return client.scan_items("customer", ["id"], da.col("id").equals(ASKED), **options)


def _served(respond: Responder, use: Callable[[da.Client], object] = _ask, **options: Any) -> object:
    with serving(respond) as server:
        return use(_client(server.base_url, **options))


def _no_tls() -> object:
    with serving(closing(b"220 mail ready\r\n")) as server:
        return _ask(_client(server.base_url.replace("http:", "https:"), timeout=0.5))


def _proxied(respond: Responder, address: str = SITE, **options: Any) -> object:
    with serving(respond) as server:
        proxy = server.base_url.replace("http://", f"http://user:{PASSWORD}@")
        return _ask(_client(address, proxy=proxy, retry_for=0, **options))


def _no_vault() -> str:
    raise LookupError("no vault")


def _closed() -> object:
    client = _client(SITE)
    client.close()
    return _ask(client)


_BEGINNING = b'{"code":200,"data":{"status":true,"data":['
OTHERS: dict[str, Callable[[], object]] = {
    "refused": lambda: _ask(_client(f"http://127.0.0.1:{free_port()}")),
    "unknown host": lambda: _ask(_client("https://cdp.invalid", retry_for=0)),
    "no tls": _no_tls,
    "proxy refused": lambda: _ask(_client(SITE, proxy=f"http://user:{PASSWORD}@127.0.0.1:{free_port()}", retry_for=0)),
    "proxy says no": lambda: _proxied(always(http(b"", "407 Who are you"))),
    "proxy echoes": lambda: _proxied(
        always(http(f"Bearer {TOKEN} {PASSWORD} {KEY}".encode(), "502 Bad")), "http://cdp.example.com", allow_http=True
    ),
    "plain http": lambda: _client("http://cdp.example.com"),
    "bad header": lambda: _client(SITE, headers={"X-Api-Key": f"{KEY}\r\nX-Evil: 1"}),
    "bad token": lambda: _client(SITE, token=f"{TOKEN}\r\n"),
    "bad token of a callable": lambda: _served(always(ROWS), token=lambda: f"{TOKEN}\n"),
    "callable that raises": lambda: _served(always(ROWS), token=_no_vault),
    "validation": lambda: _client(SITE).search_codes(allocated_time=da.on("2024-01-15"), code_status=7),
    "closed": _closed,
    "stream breaks off": lambda: _served(
        closing(http(_BEGINNING + b",".join([b'{"id":"%s"}' % ROW.encode()] * 300))),
        lambda client: list(_scan(client).batches(max_rows=100)),
    ),
    "misfit": lambda: _served(
        always(http(_BEGINNING + b'{"id":1},{"id":"%s"}]}}' % ROW.encode())),
        lambda client: _scan(client, schema={"id": "int64"}).to_arrow(),
    ),
}

# Where a user can put a secret by mistake, or has to: none is shown when the value is refused.
# WHATWG URL, section 4.4: a host with a full-width `@` is read as one with `@`.
ADDRESSES = [
    f"https://user:{PASSWORD}@cdp.example.com",
    f"https://user:{PASSWORD}%40cdp.example.com",
    f"https://user:{PASSWORD}\uff20cdp.example.com",
    f"https://user:{PASSWORD}\ufe6bcdp.example.com",
    f"https://user:{PASSWORD}%EF%BC%A0cdp.example.com",
    f"https://{PASSWORD}%40cdp.example.com",
    f"https://{PASSWORD}\uff20cdp.example.com",
    f"https://cdp.example.com:{PASSWORD}",
    f"https://cdp.example.com:12{PASSWORD}/x",
    f"cdp.example.com:{PASSWORD}",
    f"user:{PASSWORD}%40cdp.example.com",
]
# RFC 3986, section 3.2: requests and curl read the part of a raw password behind `#`, `?` or `/` as the path.
PROXIES = [
    f"gopher://user:{PASSWORD}@proxy",
    *(f"http://robot:hun@{PASSWORD}{end}x@proxy.invalid:3128" for end in "#/?"),
    *(f"http://robot:12{end}{PASSWORD}@proxy.invalid:3128" for end in "#/?"),
    f"http://proxy.invalid:3128/{PASSWORD}",
    f"http://proxy.invalid:3128/?{PASSWORD}",
    f"http://{{{PASSWORD}}}.invalid:3128",
]
PROFILES = [
    f"[{TOKEN}]\na = 1\n[{TOKEN}]\n",
    f"[profiles.default]\n{TOKEN} = 1\n{TOKEN}.a = 2\n",
    f'[profiles.default]\nbase_url = "{SITE}"\ntoken = {TOKEN}\n',
    f'[profiles.default]\ntoken = "tok-\\{TOKEN}"\n',
    *(f"[profiles.default]\nbase_url = '{SITE}'\nproxy = '{proxy}'\n" for proxy in PROXIES),
]
# What is behind `?` or `#` of a store address is a signature, as in a SAS URL of Azure Storage (RFC 3986, section 3.4).
STORES = [
    f"s3://b/f{{}}?X-Amz-Signature={PASSWORD}",
    f"az://c/f{{}}?sv=1&sig={PASSWORD}",
    f"az://c/f{{}}?sv=1&sig={PASSWORD}@x",
    f"abfss://c@a.dfs.core.windows.net/f{{}}?sig={PASSWORD}",
    f"gs://b/f{{}}#{PASSWORD}",
    f"https://acc.blob.core.windows.net/c/f{{}}?sv=1&sig={PASSWORD}",
]
STORE_CALLS: dict[str, Callable[[Any, str], object]] = {
    "parquet": lambda scan, store: scan.to_parquet(store.format(".parquet")),
    "csv": lambda scan, store: scan.to_parquet(store.format(".csv")),
    "jsonl": lambda scan, store: scan.to_jsonl(store.format(".jsonl"), storage_options={"a": "b"}),
    "folder": lambda scan, store: scan.to_folder(store.format("")),
    "read": lambda scan, store: scan.read_folder(store.format("")),
    "status": lambda _, store: da.folder_status(store.format("")),
    "path": lambda scan, store: scan.to_parquet(Path(store.format(".parquet"))),
}


def _by_variable(name: str, value: str, **options: Any) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, value)
        return da.Client(options.pop("address", SITE), token=TOKEN, **options)


def _by_file(name: str, content: str, act: Callable[[Path], object]) -> object:
    """What becomes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        path.chmod(0o600)
        return act(path)


def _by_profile(content: str) -> object:
    def act(path: Path) -> object:
        return _by_variable("XDG_CONFIG_HOME", str(path.parents[1]), address=None, profile="default")

    return _by_file("dataaccess/config.toml", content, act)


def _by_bundle(source: str, label: str) -> object:
    r"""A bundle with a literal `\n` in place of line breaks, as secrets are pasted into Kubernetes."""
    content = f"-----BEGIN {label}-----\\n{PEM}\\n-----END {label}-----"
    if source == "ca_bundle":
        return _by_file("ca.pem", content, lambda path: _client(SITE, ca_bundle=path))
    return _by_file("ca.pem", content, lambda path: _by_variable(source, str(path)))


def _by_store(call: str, store: str) -> object:
    return STORE_CALLS[call](_client(SITE).scan_codes(["id"], allocated_time=da.on("2024-01-15")), store)


OTHERS |= {
    **{f"address {number}": partial(_client, each) for number, each in enumerate(ADDRESSES)},
    **{
        f"address {number} of a variable": partial(_by_variable, "DATAACCESS_BASE_URL", each, address=None)
        for number, each in enumerate(ADDRESSES)
    },
    "address of other options": lambda: _client(SITE).with_options(base_url=ADDRESSES[0]),
    **{f"proxy {number}": partial(_client, SITE, proxy=each) for number, each in enumerate(PROXIES)},
    **{
        f"proxy {number} of {name}": partial(_by_variable, name, each)
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")
        for number, each in enumerate(PROXIES)
    },
    "proxy of other options": lambda: _client(SITE).with_options(proxy=PROXIES[0], headers={"X-Api-Key": KEY}),
    **{f"profile {number}": partial(_by_profile, each) for number, each in enumerate(PROFILES)},
    **{
        f"{label} of {source}": partial(_by_bundle, source, label)
        for source in ("ca_bundle", "DATAACCESS_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
        for label in ("PRIVATE KEY", "CERTIFICATE")
    },
    **{
        f"{call} into store {number}": partial(_by_store, call, each)
        for call in STORE_CALLS
        for number, each in enumerate(STORES)
    },
}


def failing(name: str) -> tuple[BaseException | None, list[str]]:
    """What a failure raises, and what was warned of meanwhile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            OTHERS[name]() if name in OTHERS else _served(RESPONSES[name], **OPTIONS.get(name, {}))
        except BaseException as error:
            return error, [str(warning.message) for warning in caught]
    return None, [str(warning.message) for warning in caught]


def throttled(*headers: str) -> bytes:
    return http(b"", "429 Slow", headers=headers)
