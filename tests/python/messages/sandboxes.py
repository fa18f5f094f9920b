"""The sandbox: its arguments, rows, faults, exports, recordings, and a sandbox elsewhere."""

from __future__ import annotations

import gc
import pickle
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.messages import ROW, Case, Cases, Shown, User, ask, program
from support.plain_http import PlainService
from support.raw_server import always, http, serving

import dataaccess as da


def names(user: User) -> dict[str, Any]:
    """What the calls use."""
    import numpy as np
    import pandas as pd
    import polars as pl

    sandbox = user.stack.enter_context(da.Sandbox())
    sandbox.declare("store", 7, {"store_id": "string", "area": "number", "opened": "datetime", "tags": "list"})
    sandbox.load("store", [{"store_id": "1"}])
    return {"sandbox": sandbox, "np": np, "pd": pd, "pl": pl, "pickle": pickle}


SANDBOXES = Cases(names)


@SANDBOXES.of("with fault, fault: …")
def _twice(_user: User) -> object:
    with da.Sandbox() as sandbox:
        fault = sandbox.fault("reset")
        with fault, fault:
            return None


@SANDBOXES.of("sandbox.load(…) after sandbox.close()")
def _stopped(_user: User) -> object:
    with da.Sandbox() as sandbox:
        sandbox.reset()
    return sandbox.load("customer", [])


@SANDBOXES.of("client.search_codes(…) of a sandbox that was closed")
def _client_of_stopped(_user: User) -> object:
    with da.Sandbox() as sandbox:
        client = sandbox.client(retry_for=0)
    return client.search_codes(allocated_time=da.on("2024-01-15"))


@SANDBOXES.of("da.Client('sandbox:demo')")
def _demo(_user: User) -> object:
    return program("import dataaccess as da; da.Client('sandbox:demo')")


PROGRAM = """
import sys
import dataaccess as da

da.Client(sys.argv[1], token=sys.argv[2]).search_codes(allocated_time=da.on("2024-01-15"))
"""


@SANDBOXES.of("client.search_codes(…) of a sandbox in another process")
def _elsewhere(user: User) -> object:
    return program(PROGRAM, user.sandbox.base_url, user.sandbox.issue_token())


FORKED = """
import os
import dataaccess as da

sandbox = da.Sandbox()
if os.fork() == 0:
    sandbox.load("customer", [])
os.wait()
"""


@SANDBOXES.of("sandbox.load(…) in a child after os.fork()")
def _forked(_user: User) -> object:
    return program(FORKED)


@SANDBOXES.of("sandbox.fault('reset') without with")
def _unused(user: User) -> object:
    sandbox = user.stack.enter_context(da.Sandbox())
    sandbox.fault("reset")
    gc.collect()
    return None


@SANDBOXES.of("da.Sandbox.connect(…) to a service of another kind")
def _no_sandbox(_user: User) -> object:
    with serving(always(http(b"<html>", content_type="text/html"))) as server:
        return da.Sandbox.connect(server.base_url, "t" * 32).requests


# What the sandbox refuses, as a request that no client sends.


def strict(label: str, body: object, **headers: str) -> Case:
    """A request of another program."""

    def act(user: User) -> object:
        with PlainService(user.sandbox.base_url, user.sandbox.issue_token()) as service:
            reply = service.post(
                "/access/api/item/search", body, {name.replace("_", "-"): v for name, v in headers.items()}
            )
        envelope = reply.envelope
        reason = "" if envelope["data"] == envelope["message"] else f"; data: {envelope['data']}"
        return Shown(f"HTTP {reply.status}, code {envelope['code']}: {envelope['message']}{reason}")

    return Case(label, act)


TIME = {
    "column": "allocated_time", "type": 2, "data_type": "datetime", "operator": "equals", "value": 1705276800000,
    "time_unit": "DAY",
}  # fmt: skip
STATUS = {
    "column": "code_status", "type": 2, "data_type": "number", "operator": "matches", "value": [3], "extendValue": [],
}  # fmt: skip
SEARCH: dict[str, Any] = {
    "itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": {"OR": [{"AND": [TIME]}]},
}  # fmt: skip


def search(*conditions: Any, **members: Any) -> dict[str, Any]:
    """A body of a search of codes."""
    body = {**SEARCH, "filters": {"OR": [{"AND": list(conditions or (TIME,))}]}, **members}
    return {name: value for name, value in body.items() if value is not ...}


SANDBOXES.add([
    strict("a body that is no JSON", b"{"),
    strict("a body that is a list", b"[]"),
    strict("a body of 128 brackets", b"[" * 200 + b"]" * 200),
    strict("a member twice", b'{"attrs": [], "attrs": []}'),
    strict("a body without filters", search(filters=...)),
    strict("a member that is not known", search(limit=5)),
    strict("an id that is a string", search(itemTypeId="-100")),
    strict("an object that does not exist", search(itemTypeId=5)),
    strict("attrs that are a string", search(attrs="id")),
    strict("no attribute", search(attrs=[])),
    strict("an attribute that does not exist", search(attrs=["di"])),
    strict("an attribute twice", search(attrs=["id", "id"])),
    strict("no group", search(filters={"OR": []})),
    strict("five conditions", search(*[STATUS] * 4, TIME)),
    strict("no condition on allocated_time", search(STATUS)),
    strict("a column twice", search(STATUS, STATUS, TIME)),
    strict("a column that is not filtered", search({**STATUS, "column": "pool_id"}, TIME)),
    strict("a status that does not exist", search({**STATUS, "value": [7]}, TIME)),
    strict("an operator that does not exist", search({**STATUS, "operator": "above"}, TIME)),
    strict("equals with two values", search({**STATUS, "operator": "equals", "value": [3, 4]}, TIME)),
    strict("a type that does not exist", search({**STATUS, "type": 5}, TIME)),
    strict("another data_type", search({**STATUS, "data_type": "string"}, TIME)),
    strict("an extendValue with a value", search({**STATUS, "extendValue": [1]}, TIME)),
    strict("an extendValue on a time", search({**TIME, "extendValue": []})),
    strict("a time unit on a number", search({**STATUS, "time_unit": "DAY"}, TIME)),
    strict("a time in seconds", search({**TIME, "value": 1705276800})),
    strict("a time as a string", search({**TIME, "value": "2024-01-15"})),
    strict("a time beyond the calendar", search({**TIME, "value": 2**62})),
    strict("another Content-Type", search(), Content_Type="text/plain"),
    strict("another Host", search(), Host="evil.example.com"),
    strict("a page of another origin", search(), Origin="https://evil.example.com"),
    strict("a compressed body", search(), Content_Encoding="gzip"),
    strict("a refused token", search(), Authorization="Bearer no"),
])  # fmt: skip


# What the routes of control refuse.


def control(label: str, method: str, path: str, body: bytes | None = None, **headers: str) -> Case:
    """A request of another program, with the admin token."""

    def act(user: User) -> object:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {"Authorization": f"Bearer {user.sandbox.admin_token}", "Content-Type": "application/json", **given}
        with closing(HTTPConnection(urlsplit(user.sandbox.base_url).netloc, timeout=30)) as connection:
            connection.request(method, f"/__sandbox{path}", body, given)
            response = connection.getresponse()
            return Shown(f"HTTP {response.status}: {response.read().decode()}")

    return Case(label, act)


SANDBOXES.add([
    control("a route that does not exist", "GET", "/nothing"),
    control("another method", "PUT", "/clock"),
    control("no admin token", "GET", "/state", Authorization=""),
    control("a body that is no JSON, of control", "POST", "/clock", b"{"),
    control("a body that is a list, of control", "POST", "/clock", b"[]"),
    control("a time that is negative", "POST", "/clock", b'{"advance": -1}'),
    control("an entry with an unknown member", "POST", "/exports", b'{"entries": [{"rows": 5}, {"second": 1}]}'),
    control("a query twice", "GET", "/objects/customer/rows?limit=1&limit=2"),
    control("a query that is not UTF-8", "GET", "/objects/customer/rows?limit=%ff"),
    control("too many rows to list", "GET", "/objects/customer/rows?limit=1000000"),
    control("a fault that has ended", "DELETE", "/faults/999"),
    control("rows and a list of entries", "POST", "/exports", b'{"rows": 5, "entries": [{"rows": 1}]}'),
    control("entries that are a text", "POST", "/exports", b'{"entries": "5"}'),
    control("a page of another site", "GET", "/state", Sec_Fetch_Site="cross-site"),
])  # fmt: skip


# Recordings.


def recorded(label: str, make: Any) -> None:
    """A client that records into a file."""

    def act(user: User) -> object:
        path = user.folder / "exchanges"
        make(path)
        with user.served(ROW, record=path) as client:
            return ask(client)

    SANDBOXES.of(f"da.Client(…, record='exchanges') with {label}")(act)


recorded("no such file", lambda _path: None)
recorded("a file of something else", lambda path: path.write_text("notes") and path.chmod(0o600))
recorded("a file that others can read", lambda path: path.write_text("") or path.chmod(0o644))
recorded("a folder", Path.mkdir)
recorded("a link", lambda path: path.symlink_to("other"))


@SANDBOXES.of("da.Client(…, record='no/exchanges')")
def _no_folder(user: User) -> object:
    with user.served(ROW, record="no/exchanges") as client:
        return ask(client)


def replayed(label: str, content: str | None) -> None:
    """A sandbox that replays a recording."""

    def act(user: User) -> object:
        if content is not None:
            user.file("exchanges", content)
        return da.Sandbox.replay("exchanges")

    SANDBOXES.of(f"da.Sandbox.replay('exchanges') with {label}")(act)


replayed("no such file", None)
replayed("a file of something else", "notes\n")


@SANDBOXES.of("a request that a recording does not have")
def _not_recorded(user: User) -> object:
    path = user.folder / "exchanges"
    with user.served(ROW, record=path) as client:
        ask(client)
    with da.Sandbox.replay(path) as sandbox:
        return sandbox.client().search_items("customer", ["name"], da.col("name").equals("other"))
