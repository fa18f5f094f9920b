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
from airflow.sdk import Connection

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessScanOperator, DataAccessSearchOperator

PACKAGE = "dataaccess"
KEY = "AwsSecretKey123"
PASSWORD = "ProxyPassword123"
TOKEN = "Token123"


@pytest.fixture(autouse=True)
def of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections of the class that workers have, whose representation shows everything."""
    from airflow.sdk import BaseHook

    def get_connection(_: Any, conn_id: str) -> Connection:
        return CONNECTIONS[conn_id]

    async def aget_connection(_: Any, conn_id: str) -> Connection:
        return CONNECTIONS[conn_id]

    monkeypatch.setattr(BaseHook, "get_connection", classmethod(get_connection))
    monkeypatch.setattr(BaseHook, "aget_connection", classmethod(aget_connection))
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")


def connection(
    conn_id: str, kind: str, extra: dict[str, Any], password: str | None = None, host: str | None = None
) -> Connection:
    login = "AK" if kind != "dataaccess" else None
    return Connection(
        conn_id=conn_id, conn_type=kind, login=login, password=password, host=host, extra=json.dumps(extra)
    )


PROXY: dict[str, Any] = {"proxy": f"http://u:{PASSWORD}@h", "headers": json.dumps({"X-Api-Key": KEY})}
ELSEWHERE = "https://cdp.example.com"
DOWN = {"endpoint_url": "http://127.0.0.1:1", "region_name": "us-east-1"}
CONNECTIONS = {
    each.conn_id: each
    for each in (
        connection("down", "aws", DOWN, KEY),
        connection("misspelled", "aws", {"role_arm": "x", "aws_session_token": KEY}, KEY),
        connection("azure", "wasb", {"nope": "x", "account_key": KEY}, KEY),
        connection("google", "google_cloud_platform", {"keyfile_dict": KEY, "scope": "x"}, KEY),
        connection("once", "dataaccess", {"retry_for": 0}),
        connection("timeout", "dataaccess", {**PROXY, "timeout": "soon"}, TOKEN),
        connection("headers", "dataaccess", {"proxy": PROXY["proxy"], "headers": KEY}, TOKEN),
        connection("unknown", "dataaccess", {**PROXY, "pasword": KEY}, TOKEN),
        connection("foreign", "dataaccess", PROXY, None, ELSEWHERE),
        connection("refused", "dataaccess", {**PROXY, "timezone": "Nowhere"}, TOKEN, ELSEWHERE),
    )
}
CONNECTIONS["schema"] = Connection(
    conn_id="schema", conn_type="dataaccess", host="http://h", schema="https", password=TOKEN, extra=json.dumps(PROXY)
)
CONNECTIONS["login"] = Connection(
    conn_id="login", conn_type="dataaccess", login="me", password=TOKEN, extra=json.dumps(PROXY)
)
CONNECTIONS["listed"] = Connection(conn_id="listed", conn_type="dataaccess", extra=json.dumps([KEY]))
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
