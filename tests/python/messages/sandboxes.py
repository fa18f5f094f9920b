"""The sandbox: its arguments, rows, faults, exports, recordings, and a sandbox elsewhere."""

from __future__ import annotations

import gc
import pickle
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from messages.searches import CODE_CONDITION, TIME
from support.messages import ROW, Cases, Shown, User, ask, program
from support.plain_http import PlainService
from support.raw_server import always, http, serving

import dataaccess as da


def search(*conditions: Any, **members: Any) -> dict[str, Any]:
    """A body of a search of codes; `...` is no member."""
    filters = {"OR": [{"AND": list(conditions or (TIME,))}]}
    body = {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": filters, **members}
    return {name: value for name, value in body.items() if value is not ...}


def strict(user: User, body: object, **headers: str) -> Shown:
    """What the sandbox responds to a request that no client sends."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    with PlainService(user.sandbox.base_url, user.sandbox.issue_token()) as service:
        reply = service.post("/access/api/item/search", body, given)
    envelope = reply.envelope
    reason = "" if envelope["data"] == envelope["message"] else f"; data: {envelope['data']}"
    return Shown(f"HTTP {reply.status}, code {envelope['code']}: {envelope['message']}{reason}")


def control(user: User, method: str, path: str, body: bytes | None = None, **headers: str) -> Shown:
    """What a route of control responds to a request with the admin token."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given = {"Authorization": f"Bearer {user.sandbox.admin_token}", "Content-Type": "application/json", **given}
    with closing(HTTPConnection(urlsplit(user.sandbox.base_url).netloc, timeout=30)) as connection:
        connection.request(method, f"/__sandbox{path}", body, given)
        response = connection.getresponse()
        return Shown(f"HTTP {response.status}: {response.read().decode()}")


def names(user: User) -> dict[str, Any]:
    import numpy as np
    import pandas as pd
    import polars as pl

    sandbox = user.stack.enter_context(da.Sandbox())
    sandbox.declare("store", 7, {"store_id": "string", "area": "number", "opened": "datetime", "tags": "list"})
    sandbox.load("store", [{"store_id": "1"}])
    bodies = {"search": search, "TIME": TIME, "STATUS": CODE_CONDITION}
    sends = {"strict": partial(strict, user), "control": partial(control, user)}
    return {"sandbox": sandbox, "np": np, "pd": pd, "pl": pl, "pickle": pickle, **bodies, **sends}


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


# Recordings.


def recorded(label: str, make: Any) -> None:
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
