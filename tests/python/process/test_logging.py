"""Records of `logging`: what each attempt does, in the thread and context of the caller, and never a secret."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.programs import free_port
from support.raw_server import EXPORT, Close, always, http, in_turn, serving
from support.scan_requests import wait_until
from support.searches import search

import dataaccess as da
from dataaccess._core import log

pytestmark = pytest.mark.usefixtures("short_pauses")

SEARCH = "/access/api/item/search"
BUSY = http(b"", "503 Busy", headers=("Retry-After: 0",))
ORIGIN: contextvars.ContextVar[str] = contextvars.ContextVar("origin", default="elsewhere")


class Kept(logging.Handler):
    """Keeps records, and where each was handled; then does what a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []
        self.places: list[tuple[int, str]] = []
        self.then: Callable[[], object] = lambda: None

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.places.append((threading.get_ident(), ORIGIN.get()))
        self.then()

    def wait_for(self, number: int) -> list[Any]:
        """The records, when so many have come; of a call that was cut off the last comes a little later."""
        wait_until(lambda: len(self.records) >= number)
        return self.records


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler, logger = Kept(), logging.getLogger("dataaccess")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_an_attempt_is_logged_when_it_begins_and_ends_and_when_another_follows(connect: Any, kept: Kept) -> None:
    whole = http()
    with serving(in_turn(BUSY, whole)) as server:
        started = time.time()
        search(connect(f"{server.base_url}/base"))
        ended = time.time()
        ids = [request.headers["x-request-id"] for request in server.requests]
    logged = [(record.name, record.levelname) for record in kept.records]
    request, access = ("dataaccess.request", "DEBUG"), ("dataaccess.access", "INFO")
    assert logged == [request, access, ("dataaccess.retry", "WARNING"), request, access]
    assert [record.request_id for record in kept.records] == [ids[0]] * 3 + [ids[1]] * 2
    assert [record.attempt for record in kept.records] == [1, 1, 1, 2, 2]
    assert {(record.operation, record.day) for record in kept.records} == {("search_codes", "2024-01-15")}
    _, failed, again, _, done = kept.records
    assert {(record.method, record.path) for record in (failed, done)} == {("POST", SEARCH)}
    assert (failed.outcome, failed.status, failed.bytes, failed.rows) == ("ThrottledError", 503, 0, None)
    assert (done.outcome, done.status, done.bytes, done.rows) == ("ok", 200, len(whole.partition(b"\r\n\r\n")[2]), 2)
    assert (again.reason, again.delay >= 0) == ("ThrottledError", True)
    assert "HTTP 503" in again.detail
    assert failed.getMessage() == (
        f"search_codes 2024-01-15: POST {SEARCH} 503 ThrottledError in {failed.seconds:.3f} s, 0 bytes, "
        f"request {ids[0]}, attempt 1"
    )
    assert done.getMessage() == (
        f"search_codes 2024-01-15: POST {SEARCH} 200 in {done.seconds:.3f} s, {done.bytes} bytes, 2 rows, "
        f"request {ids[1]}, attempt 2"
    )
    times = [record.created for record in kept.records]
    assert started - 1 < times[0] and times == sorted(times) and times[-1] < ended + 1  # noqa: PT018
    assert 0 <= done.seconds <= times[-1] - times[0] + 1
    assert all(0 <= record.msecs < 1000 for record in kept.records)
    for name in ("dataaccess.request", "dataaccess.access", "dataaccess.retry"):
        shown = {frozenset(extra_of(record)) for record in kept.records if record.name == name}
        assert shown == {frozenset(documented(name))}


def test_every_operation_is_reported_by_its_name(connect: Any, sandbox: da.Sandbox, kept: Kept) -> None:
    client = connect(sandbox)
    client.search_items("customer", ["customer_id"], da.col("customer_id").equals("demo-customer-0001"))
    client.download_segment(5637051)
    client.wait_for_segment(5637051, timeout=60)
    client.post("/access/api/item/search", client.validate_codes(allocated_time=da.on("2024-01-15")))
    client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_arrow()
    list(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).batches())
    ended = [record for record in kept.wait_for(12) if hasattr(record, "outcome")]
    logged = [(record.operation, record.rows) for record in ended]
    texts = [re.findall(r" bytes(, \d+ rows?)?, ", record.getMessage()) for record in ended]
    assert texts == [[", 1 row"], [""], [""], [""], [", 73 rows"], [", 73 rows"]]
    assert logged == [
        ("search_items", 1),
        # The rows of an export and of a free response are not known.
        ("download_segment", None),
        ("wait_for_segment", None),
        ("post", None),
        ("scan_codes", 73),
        ("scan_codes", 73),
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_records_are_handled_where_the_call_was_made(kept: Kept, *, asynchronous: bool) -> None:
    async def awaited(address: str) -> None:
        ORIGIN.set("the call")
        await search(da.AsyncClient(address, token="tok"))

    with serving(in_turn(BUSY, http())) as server:
        if asynchronous:
            asyncio.run(awaited(server.base_url))
        else:
            client = da.Client(server.base_url, token="tok")
            contextvars.copy_context().run(lambda: (ORIGIN.set("the call"), search(client)))
    assert kept.places == [(threading.get_ident(), "the call")] * 5


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({"dataaccess": logging.WARNING}, ["dataaccess.retry"]),
        ({"dataaccess": logging.ERROR}, []),
        ({"dataaccess": logging.ERROR, "dataaccess.retry": logging.INFO}, ["dataaccess.retry"]),
        ({"dataaccess.retry": logging.ERROR}, ["dataaccess.request", "dataaccess.access"] * 2),
        ({"dataaccess": logging.INFO}, ["dataaccess.access", "dataaccess.retry", "dataaccess.access"]),
        ({"dataaccess.access": logging.WARNING}, ["dataaccess.request", "dataaccess.retry", "dataaccess.request"]),
        ({"dataaccess": logging.ERROR, "dataaccess.access": logging.INFO}, ["dataaccess.access"] * 2),
    ],
)
def test_the_level_of_the_moment_decides(
    connect: Any, kept: Kept, caplog: Any, levels: dict[str, int], expected: list[str]
) -> None:
    with serving(in_turn(BUSY, http())) as server:
        client = connect(server.base_url)
        for name, level in levels.items():
            caplog.set_level(level, name)
        search(client)
    assert [record.name for record in kept.records] == expected


def cut(connection: Any, number: int) -> None:
    """A response without its last bytes: the first one stays open."""
    connection.sendall(http()[:-5])
    if number == 0:
        connection.recv(1)
    raise Close


def timed_out(address: str) -> None:
    with pytest.raises(da.RequestTimeoutError):
        da.Client(address, token="tok", timeout=0.2).download_segment(1)


def cancelled(address: str) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(da.AsyncClient(address, token="tok").download_segment(1), 0.2)
        # Its end is logged a little later, in the loop.
        await asyncio.sleep(0.1)

    asyncio.run(main())


@pytest.mark.parametrize(("call", "outcome"), [(timed_out, "RequestTimeoutError"), (cancelled, "cancelled")])
def test_a_call_that_is_cut_off_logs_its_end(kept: Kept, call: Any, outcome: str) -> None:
    size = len(http().partition(b"\r\n\r\n")[2])
    with serving(cut) as server:
        call(server.base_url)
        _, ended = kept.wait_for(2)
        with pytest.raises(da.ConnectionLostError):
            search(da.Client(server.base_url, token="tok", retry_for=0))
    with pytest.raises(da.ConnectError):
        search(da.Client(f"http://127.0.0.1:{free_port()}", token="tok", retry_for=0))
    _, _, _, lost, _, refused = kept.wait_for(6)
    assert (ended.name, ended.outcome, ended.status) == ("dataaccess.access", outcome, 200)
    assert (lost.outcome, lost.status, lost.bytes, lost.rows) == ("ConnectionLostError", 200, size - 5, None)
    assert (refused.outcome, refused.status) == ("ConnectError", None)
    assert f"POST {SEARCH} ConnectError in " in refused.getMessage()


def test_a_handler_that_fails_harms_no_call(connect: Any, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda logged: unraisable.append(logged.exc_type))
    kept.then = Mock(side_effect=ZeroDivisionError)
    with serving(in_turn(BUSY, http())) as server:
        assert search(connect(server.base_url)) == [{"id": "a"}, {"id": "b"}]
    assert unraisable == [ZeroDivisionError] * 5
    assert len(kept.records) == 5


def test_a_handler_may_use_the_client_and_its_requests_are_not_logged(
    connect: Any, sandbox: da.Sandbox, kept: Kept
) -> None:
    other, found = sandbox.client(), list[int]()
    kept.then = lambda: found.append(len(search(other)))
    expected = len(search(connect(sandbox)))
    assert found == [expected] * 2
    assert len(kept.records) == 2


def test_ctrl_c_in_a_handler_is_for_the_caller(kept: Kept) -> None:
    kept.then = Mock(side_effect=KeyboardInterrupt)
    with serving(always(http())) as server:
        with pytest.raises(KeyboardInterrupt):
            search(da.Client(server.base_url, token="tok"))
        # The end is logged too, a little later: not during the next test.
        assert len(kept.wait_for(2)) == 2


def test_no_record_of_an_attempt_has_a_secret(connect: Any, kept: Kept) -> None:
    secrets = ("token-of-the-test", "key-of-the-test", "audience-of-the-test")
    with serving(always(http())) as server:
        client = connect(server.base_url, token=secrets[0], headers={"X-Api-Key": secrets[1]})
        client.search_codes(
            ["id"], allocated_time=da.on("2024-01-15"), allocated_audience=secrets[2], audience_type="customer"
        )
        for secret in secrets[:2]:
            client.post(f"/of/{secret}/x", {"where": secrets[2]})
    shown = [{**vars(record), "message": record.getMessage()} for record in kept.wait_for(6)]
    assert [each["path"] for each in shown if "outcome" in each] == [SEARCH, "/of/<redacted>/x", "/of/<redacted>/x"]
    assert not [secret for secret in secrets if secret in repr(shown)]


@pytest.mark.parametrize("use", ["to_dicts", "to_arrow", "batches"])
def test_a_scan_of_many_requests_has_a_record_for_each(sandbox: da.Sandbox, kept: Kept, use: str) -> None:
    logging.getLogger("dataaccess").setLevel(logging.INFO)
    with sandbox.client() as client:
        scan = client.scan_codes(["id"], allocated_time=da.days("2022-09-01", "2024-03-01"))
        list(getattr(scan, use)())
        assert scan.last_stats
        assert scan.last_stats.requests == len(kept.records) == 547
    assert {record.day for record in kept.records} == {str(date(2022, 9, 1) + timedelta(days)) for days in range(547)}


def test_nothing_is_made_if_nobody_listens(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted: list[Any] = []
    monkeypatch.setattr(log, "emit", emitted.append)
    root, client = logging.getLogger("dataaccess"), sandbox.client()
    for level in (logging.WARNING, logging.INFO):
        root.setLevel(level)
        try:
            search(client)
        finally:
            root.setLevel(logging.NOTSET)
        assert [fields["event"] for fields in emitted] == ["ended"] * (level == logging.INFO)


LATE = """
import sys, dataaccess as da
client = da.Client(sys.argv[1], token="tok")
assert "logging" not in sys.modules
client.download_segment(1)
assert "logging" not in sys.modules
import logging
import os
client.download_segment(1)
logging.basicConfig(format="%(name)s %(levelname)s")
client.download_segment(1)
"""


def test_a_program_that_imports_logging_late_has_its_records_from_then_on() -> None:
    with serving(in_turn(*[BUSY, http(EXPORT)] * 3)) as server:
        command = [sys.executable, "-c", LATE, server.base_url]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        assert len(server.requests) == 6
    # The second call has no handler, and a library prints nothing by itself.
    assert done.stderr == "dataaccess.retry WARNING\n"


def test_the_course_of_a_run_is_logged(connect: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dataaccess.run")
    with da.Sandbox(now="2024-01-02T12:00") as service:
        codes = [{"id": str(n), "allocated_time": "2024-01-01 09:00:00"} for n in range(3)]
        service.load("promotion_code", codes)
        days = da.days("2024-01-01", "2024-01-04")
        scan = connect(service, concurrency=1, retry_for=0).scan_codes(["id", "allocated_time"], allocated_time=days)
        with service.fault("status", status=400, after=2), pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path)
    records = [record for record in caplog.records if record.name == "dataaccess.run"]
    assert [record.levelname for record in records] == ["INFO", "INFO", "INFO", "WARNING", "WARNING"]
    days_rows_done = [
        tuple(vars(record)[name] for name in ("day", "rows", "done", "failed")) for record in records[1:4]
    ]
    assert days_rows_done == [("2024-01-01", 3, 1, 0), ("2024-01-02", 0, 2, 0), ("2024-01-03", 0, 2, 1)]
    of_run = vars(records[4])
    assert (of_run["rows"], of_run["failed"], of_run["open_days"]) == (3, 1, ["2024-01-02"])
    # Of the task, not since the run began.
    assert caught.value.report
    tasks = [task.seconds for task in caught.value.report.files]
    assert [vars(record)["seconds"] for record in records[1:3]] == tasks
    assert documented("dataaccess.run") == {name for record in records for name in extra_of(record)}


def extra_of(record: logging.LogRecord) -> set[str]:
    """The attributes that a record has by `extra=`."""
    return vars(record).keys() - vars(logging.makeLogRecord({})).keys() - {"message", "asctime"}


def documented(logger: str) -> set[str]:
    """The attributes in the last column of the table of the page, over all rows of the logger."""
    page = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| `{re.escape(logger)}` \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", "".join(rows)))


def test_a_token_callable_that_fails_says_why(sandbox: da.Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    failures = [OSError(111, "Connection refused"), ConnectionError("vault-7")]

    def token() -> str:
        if failures:
            raise failures.pop()
        return sandbox.issue_token()

    with da.Client(sandbox.base_url, token=token) as client:
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    texts = [record.getMessage() for record in caplog.records if record.name == "dataaccess.retry"]
    assert "ConnectionError: vault-7" in texts[0]
    assert "Connection refused" in texts[1]


PRINTED = """
import os, sys, logging
import dataaccess as da
{setup}
for _ in range(2):
    da.Client(sys.argv[1], token=os.environ["TOKEN"], timezone="UTC").search_codes(
        ["id"], allocated_time=da.on("2024-01-15"), allocated_audience="secret-audience", audience_type="customer"
    )
"""
NAMES = re.compile(r" (?:DEBUG|INFO|WARNING) (dataaccess\.\w+): search_codes 2024-01-15: ")


def printed(level: str, setup: str = "") -> str:
    """What a program prints on standard error whose first request fails. Its token, key and rows are secret."""
    secrets = "hunter2-token", "secret-audience", "secret-code"
    body = {"code": 200, "message": "Success", "data": {"status": True, "data": [{"id": secrets[2]}]}}
    environment = {**os.environ, "DATAACCESS_LOG": level, "TOKEN": secrets[0]}
    with serving(in_turn(BUSY, http(body), http(body))) as server:
        command = [sys.executable, "-c", PRINTED.format(setup=setup), server.base_url]
        done = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
        assert [request.headers["authorization"] for request in server.requests] == [f"Bearer {secrets[0]}"] * 3
    assert done.stdout == ""
    assert not [secret for secret in secrets if secret in done.stderr]
    return done.stderr


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (
            "debug",
            ["dataaccess.request", "dataaccess.access", "dataaccess.retry"]
            + ["dataaccess.request", "dataaccess.access"] * 2,
        ),
        ("WARNING", ["dataaccess.retry"]),
        ("info", ["dataaccess.access", "dataaccess.retry", "dataaccess.access", "dataaccess.access"]),
        ("", []),
    ],
)
def test_a_variable_prints_the_records_without_secrets(level: str, expected: list[str]) -> None:
    assert NAMES.findall(printed(level)) == expected


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_program_with_handlers_prints_each_record_once(place: str) -> None:
    setup = "logging.basicConfig(format='%(message)s')"
    if place == "after":
        setup = f"da.Client(sys.argv[1], token='t', timezone='UTC'); {setup}"
    text = printed("debug", setup)
    assert text.count(", request ") == 7
    assert NAMES.findall(text) == []
