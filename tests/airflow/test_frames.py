"""No frame of the package holds a key of a store, a password of a proxy or a token, whatever fails.

Source: a security review; Sentry's integration of Airflow sends the locals of frames.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

import pytest
from airflow.sdk import BaseHook, Connection

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessScanOperator, DataAccessSearchOperator

PACKAGE = "dataaccess"
KEY = "AwsSecretKey123"
PASSWORD = "ProxyPassword123"
TOKEN = "Token123"


@pytest.fixture(autouse=True)
def of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections of the class that workers have, whose representation shows everything."""

    async def aget_connection(conn_id: str) -> Connection:
        return CONNECTIONS[conn_id]

    monkeypatch.setattr(BaseHook, "get_connection", CONNECTIONS.__getitem__)
    monkeypatch.setattr(BaseHook, "aget_connection", staticmethod(aget_connection))
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")


PROXY: dict[str, Any] = {"proxy": f"http://u:{PASSWORD}@h", "headers": json.dumps({"X-Api-Key": KEY})}
DOWN = {"endpoint_url": "http://127.0.0.1:1", "region_name": "us-east-1"}
STORE = {"login": "AK", "password": KEY}
SERVICE = {"password": TOKEN}
ELSEWHERE = {"host": "https://cdp.example.com"}
GIVEN: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("down", "aws", DOWN, STORE),
    ("misspelled", "aws", {"role_arm": "x", "aws_session_token": KEY}, STORE),
    ("azure", "wasb", {"nope": "x", "account_key": KEY}, STORE),
    ("google", "google_cloud_platform", {"keyfile_dict": KEY, "scope": "x"}, STORE),
    ("once", "dataaccess", {"retry_for": 0}, {}),
    ("timeout", "dataaccess", {**PROXY, "timeout": "soon"}, SERVICE),
    ("headers", "dataaccess", {"proxy": PROXY["proxy"], "headers": KEY}, SERVICE),
    ("unknown", "dataaccess", {**PROXY, "pasword": KEY}, SERVICE),
    ("foreign", "dataaccess", PROXY, ELSEWHERE),
    ("refused", "dataaccess", {**PROXY, "timezone": "Nowhere"}, {**SERVICE, **ELSEWHERE}),
    ("schema", "dataaccess", PROXY, {**SERVICE, "host": "http://h", "schema": "https"}),
    ("login", "dataaccess", PROXY, {**SERVICE, "login": "me"}),
    ("listed", "dataaccess", [KEY], {}),
]
CONNECTIONS = {
    name: Connection(conn_id=name, conn_type=kind, extra=json.dumps(extra), **fields)
    for name, kind, extra, fields in GIVEN
}
CONNECTIONS["broken"] = Connection(conn_id="broken", conn_type="dataaccess", extra=f'{{"headers": {KEY}')


def shown(value: object, depth: int = 4) -> Iterator[str]:
    """What a tool shows of a local: it walks through dicts and lists."""
    yield repr(value)
    if depth and isinstance(value, Mapping):
        for key in value:
            yield from shown(value[key], depth - 1)
    elif depth and isinstance(value, list | tuple | set):
        for each in value:
            yield from shown(each, depth - 1)


def locals_of(error: BaseException | None) -> Iterator[tuple[str, str]]:
    """The locals of the frames of the package, of an error and what it came from."""
    while error is not None:
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None:
            frame, traceback = traceback.tb_frame, traceback.tb_next
            if str(frame.f_globals["__name__"]).partition(".")[0] == PACKAGE:
                for name, value in frame.f_locals.items():
                    for text in shown(value):
                        yield f"{frame.f_code.co_qualname}: {name}", text
        error = error.__cause__ or error.__context__


def search(path: str) -> Any:
    operator = DataAccessSearchOperator(task_id="t", dataaccess_conn_id="once", allocated_time=ON, path=path)
    return operator.execute({})


def scan(folder: str) -> Any:
    operator = DataAccessScanOperator(task_id="t", dataaccess_conn_id="once", allocated_time=ON, folder=folder)
    return operator.execute({})


ON = da.on("2024-01-15")
FAILING: dict[str, Callable[[], Any]] = {
    "a store that is down": lambda: search("s3://down@b/o.jsonl"),
    "a folder in it": lambda: scan("s3://down@b/codes"),
    "a misspelled key": lambda: search("s3://misspelled@b/o.jsonl"),
    "a key of Azure": lambda: search("az://azure@account.dfs.core.windows.net/o.jsonl"),
    "a key of Google": lambda: search("gs://google@b/o.jsonl"),
    **{
        f"{name} of a client": lambda name=name: DataAccessHook(name).client()  # type: ignore[misc]
        for name in ("timeout", "headers", "unknown", "foreign", "refused", "broken", "listed", "schema", "login")
    },
    **{
        f"{name} of an awaited client": lambda name=name: asyncio.run(DataAccessHook(name).async_client())  # type: ignore[misc]
        for name in ("timeout", "refused", "broken", "listed")
    },
}


@pytest.mark.parametrize("failing", ["broken of a client", "broken of an awaited client"])
def test_no_error_keeps_a_text_that_is_no_json(failing: str) -> None:
    with pytest.raises(da.ConfigError) as caught:
        FAILING[failing]()
    assert caught.value.__context__ is None


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_no_frame_holds_a_secret(failing: Callable[[], Any]) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any error that comes
        failing()
    found = [*locals_of(caught.value)]
    assert any(PACKAGE in place or text for place, text in found)
    held = {place for place, text in found if any(secret in text for secret in (KEY, PASSWORD, TOKEN))}
    assert held == set()
    assert not any(secret in f"{caught.value}" for secret in (KEY, PASSWORD, TOKEN))
