"""Errors are raised at the line of the caller: no frame of this package, and no cause of the HTTP library above it."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

PACKAGE = str(Path(inspect.getfile(da)).parent)

# Each fails in its own place: arguments, settings, a connection, a file.
CALLS: dict[str, Callable[[da.Client], object]] = {
    "search": lambda client: client.search_codes(["id"], allocated_time=da.after("x")),
    "scan": lambda client: client.scan_codes(["id"], allocated_time=da.after("x")),
    "validate": lambda client: client.validate_codes(["id"], allocated_time=da.after("x")),
    "function": lambda client: da.search_codes(["id"], allocated_time=da.after("x"), client=client),
    "settings": lambda _client: da.Client("https://cdp.example.com", token="tok", timeout=-1),
    "options": lambda client: client.with_options(timeout=-1),
    "request": lambda client: client.search_codes(["id"], allocated_time=da.on("2024-01-15")),
    "frame": lambda client: client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_pandas(),
    "batches": lambda client: list(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).batches()),
    "file": lambda client: client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_csv("no/such/folder/x.csv"),
    "argument": lambda client: client.search_codes(allocated_time=da.on("2024-01-15"), colour="red"),  # type: ignore[call-arg] # the mistake
}


@pytest.fixture
def client() -> da.Client:
    """A client of a port where nobody listens."""
    return da.Client("http://127.0.0.1:9", token="tok", retries=0)


def frames(error: BaseException) -> list[str]:
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize("name", CALLS)
def test_a_traceback_ends_at_the_line_of_the_caller(client: da.Client, name: str) -> None:
    with pytest.raises((da.DataAccessError, TypeError)) as caught:
        CALLS[name](client)
    assert set(frames(caught.value)) == {__file__}
    shown = "".join(traceback.format_exception(caught.value))
    assert "direct cause" not in shown
    assert "During handling" not in shown


def test_so_does_one_of_a_coroutine() -> None:
    async def search() -> None:
        client = da.AsyncClient("http://127.0.0.1:9", token="tok", retries=0)
        await client.search_codes(["id"], allocated_time=da.on("2024-01-15"))

    with pytest.raises(da.ConnectError) as caught:
        asyncio.run(search())
    assert not [name for name in frames(caught.value) if name.startswith(PACKAGE)]
    assert "Connection refused" in str(caught.value.__context__)


def test_a_callback_of_the_caller_keeps_its_frames(sandbox: da.Sandbox) -> None:
    def stop(_progress: da.Progress) -> None:
        raise da.ScanIncompleteError("enough")

    with pytest.raises(da.ScanIncompleteError, match="enough") as caught:
        sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect(progress=stop)
    assert frames(caught.value)[-1] == __file__


def test_a_defect_keeps_its_frames(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> Any:
        raise da.InternalError("a bug")

    monkeypatch.setattr("dataaccess._client.synchronous.searches.code_arguments", broken)
    with pytest.raises(da.InternalError) as caught:
        sandbox.client().search_codes(allocated_time=da.on("2024-01-15"))
    assert [name for name in frames(caught.value) if name.startswith(PACKAGE)]


def test_a_wrapped_method_looks_like_itself() -> None:
    assert "allocated_time" in inspect.signature(da.Client.search_codes).parameters
    assert inspect.iscoroutinefunction(da.AsyncClient.search_codes)
    assert inspect.getsource(da.Client.search_codes).lstrip().startswith("def search_codes")
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        help(da.Client.search_codes)
    assert "allocated_time" in shown.getvalue()
