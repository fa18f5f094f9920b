"""Programs of users, as strict type checkers see them; pytest runs them too."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
from typing import Any, assert_type
from zoneinfo import ZoneInfo

import dataaccess as da
from dataaccess.types import (
    ClientOptions,
    ExportEntry,
    Request,
    Row,
    Schema,
    SegmentStatus,
    Time,
    TimeCondition,
    Token,
    Where,
)

OPTIONS: ClientOptions = {"timeout": dt.timedelta(minutes=5), "retry_for": 0, "item_types": {"store": 7}}
SCHEMA: Schema = {"pool_id": "float64"}
TYPES: Schema = {"pool_id": int, "name": str}
ALIASES: Schema = {"name": "str", "pool_id": "Int64", "date_created": "timestamp[us]"}
HOLDER: dict[str, Any] = {"allocated_audience": "demo-customer-0001"}
SINCE: TimeCondition = da.since("2024-02-28")
WHERE: Where = da.col("customer_id").matches(["demo-customer-0001"]) & da.col("customer_id").equals(
    "demo-customer-0001"
)


async def fetch_token() -> tuple[str, dt.datetime]:
    return "a-token", dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)


def test_a_client() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = assert_type(sandbox.client(scopes=["item", "download"], **OPTIONS), da.Client)
        rows = client.search_codes(["id", "name"], allocated_time=SINCE, code_status=da.CodeStatus.USED, limit=1)
        assert_type(rows, list[Row])
        client.search_codes(allocated_time=da.on(dt.date(2024, 2, 28)), code_status=["sent", "used"])
        client.search_codes(allocated_time=da.days("2024-02-27", "2024-02-29"), code_status="sent")
        assert_type(client.search_items("customer", ["customer_id"], WHERE), list[Row])
        status = assert_type(client.download_segment(5637051), SegmentStatus)
        entry = assert_type(status["entries"][0], ExportEntry)
        assert entry["startTime"]
        assert assert_type(status.is_finished, bool)
        updates: list[SegmentStatus] = []
        assert_type(client.wait_for_segment(5637051, timeout=60, on_update=updates.append), SegmentStatus)
        assert_type(client.validate_codes(allocated_time=SINCE), dict[str, Any])
        patient = client.with_options(timeout=900, base_url=sandbox.base_url)
        assert_type(patient, da.Client)
        assert_type(client.stats.requests, int)


def test_functions_of_the_module() -> None:
    def calls() -> None:
        assert_type(da.search_codes(["id"], allocated_time=SINCE, limit=3), list[Row])
        assert_type(da.scan_items("customer", ["customer_id"], WHERE), da.Scan)
        assert_type(da.wait_for_segment(5637051, timeout=60), SegmentStatus)

    assert calls.__name__ == "calls"
    assert_type(da.validate_codes(allocated_time=SINCE), dict[str, Any])


def test_values_of_each_kind() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = sandbox.client(timezone=ZoneInfo("Etc/UTC"))
        attributes = ["id", "code_status"]
        client.scan_codes(attributes, allocated_time=SINCE, code_status="used")
        client.scan_codes(attributes, allocated_time=SINCE, code_status=4)
        client.scan_codes(attributes, allocated_time=SINCE, code_status=da.CodeStatus.USED)
        client.scan_codes(attributes, allocated_time=SINCE, code_status=["used", 3])
        client.scan_codes(attributes, allocated_time=SINCE, code_status={"sent"})
        client.scan_codes(attributes, allocated_time=SINCE, code_status=da.op("matches", 4))
        client.search_codes(
            iter(attributes), allocated_time=SINCE, audience_type=["customer", -1007], limit=1, **HOLDER
        )
        # As from a file or a template.
        names: list[str] = ["id", "code_status"]
        client.scan_codes(names, allocated_time=SINCE, code_status=names[1].removeprefix("code_status") or "used")
        kinds: tuple[str, ...] = ("customer",)
        client.validate_codes(tuple(names), allocated_time=SINCE, audience_type=kinds, **HOLDER)
        time: Time = dt.date(2024, 2, 28)
        assert client.check(time).is_ok
        assert_type(client.check(), da.ClientCheck)
        assert assert_type(da.PROMOTION_CODE_ATTRIBUTES["id"].type, str) == "string"


def test_code_after_a_comparison_is_checked() -> None:
    def checked() -> None:
        if da.after("2024-01-01"):
            da.scan()  # type: ignore[attr-defined] # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]

    assert checked.__name__ == "checked"


def test_a_table_and_files() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        scan = sandbox.client().scan_codes(["id"], allocated_time=SINCE, decode_status=True)
        progress: list[da.Progress] = []
        table = scan.collect(progress=progress.append)
        assert_type(table["id"], list[Any])
        assert_type(table[0], Row)
        assert_type(table[:2], da.Table)
        assert_type(table[["id"]].head(), da.Table)
        memory = io.BytesIO()
        scan.to_csv(memory, compression="gzip")
        assert memory.getvalue()
        assert_type(scan.explain(), str)


def test_a_scan() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        scan = assert_type(sandbox.client().scan_codes(allocated_time=SINCE, schema=TYPES), da.Scan)
        table = assert_type(scan.collect(), da.Table)
        for row in table.to_pylist():
            assert_type(row, Row)
        with scan.batches(max_rows=100) as batches:
            assert_type(batches, da.Batches)
            assert sum(assert_type(batch, da.Batch).num_rows for batch in batches) == len(table)
        assert_type(next(scan.iter_rows()), Row)
        assert_type(scan.requests(), list[Request])
        assert_type([task.id for task in scan.tasks()], list[str])
        stats = assert_type(scan.last_stats, da.ScanStats | None)
        assert stats is not None


def test_an_asynchronous_client() -> None:
    async def main(sandbox: da.Sandbox) -> int:
        async with sandbox.async_client() as client:
            scan = assert_type(client.scan_codes(allocated_time=SINCE, schema=SCHEMA), da.AsyncScan)
            assert_type(await client.search_codes(allocated_time=SINCE), list[Row])
            assert_type(await client.download_segment(5637051), SegmentStatus)
            async with scan.batches() as batches:
                return sum([batch.num_rows async for batch in assert_type(batches, da.AsyncBatches)])

    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        assert asyncio.run(main(sandbox)) > 0


def test_tokens_and_errors() -> None:
    tokens: list[Token] = ["a-token", lambda: "a-token", fetch_token, da.token_file("token")]
    for token in tokens:
        assert not da.Client("https://cdp.example.com", token=token).is_sandbox
    try:
        da.validate_codes(["id"], allocated_time=SINCE, limit=0)
    except da.ValidationError as error:
        problem = assert_type(error.problems[0], da.Problem)
        assert (problem.argument, problem.value) == ("limit", "0")
        assert_type(error.attempts, int)


def test_what_a_checker_refuses() -> None:
    def refused() -> None:
        client = da.Client("sandbox:demo?until=2024-02-29")
        client.serach_codes()  # type: ignore[attr-defined] # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
        da.scan(client)  # type: ignore[attr-defined] # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
        client.search_codes()  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
        client.with_options(tmeout=3)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
        client.wait_for_segment(1, timeout="3")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        da.search_codes(["id"])  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
        da.search_codes(allocated_time=SINCE, limit="3")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        client.search_codes([1], allocated_time=SINCE)  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
        client.search_codes(allocated_time=SINCE, code_status=1.5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        client.scan_codes(allocated_time=SINCE, schema={"id": "strnig"})  # type: ignore[dict-item] # pyright: ignore[reportArgumentType]
        client.scan_codes(allocated_time=SINCE).to_csv("x.csv", compression="bz2")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    assert refused.__name__ == "refused"
