"""Each call of `AsyncClient`, its scans and tasks returns, warns and raises as the same call of `Client` does.

What they send and how they judge responses is in the other two tests of the contract.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

DAY = da.on("2024-01-15")
WHO = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0002"])


def codes(client: Any, **options: Any) -> Any:
    days = da.days("2024-01-15", "2024-01-17")
    return client.scan_codes(["id", "code_status", "allocated_time"], allocated_time=days, **options)


def written(client: Any, folder: Path, method: str) -> Any:
    path = folder / f"codes.{method}"
    getattr(codes(client), f"to_{method}")(path)
    return path.read_bytes()


def run(client: Any, folder: Path) -> Any:
    """A run into a folder, the same again, and its rows."""
    reports = [codes(client).to_folder(folder) for _ in range(2)]
    shown = [(report.rows, len(report.files), report.requests) for report in reports]
    return shown, codes(client).read_folder(folder).to_dicts()


def entries(status: Any) -> Any:
    """A status without the time that the service took."""
    return type(status), {name: value for name, value in status.items() if name != "duration"}


def stats(client: Any, _: Path) -> Any:
    scan = codes(client)
    scan.to_dicts()
    return scan.last_stats.rows, scan.last_stats.requests


def check(client: Any, _: Path) -> Any:
    """What a check finds, without times."""
    found = client.check(day="2024-01-15", export_id=5637054).to_dict()
    return [found.pop("answers")[1:], {name: value for name, value in found.items() if name != "seconds"}]


def closed(client: Any, _: Path) -> Any:
    copy = client.with_options(timeout=9)
    client.close()
    return client.is_closed, copy.is_closed, copy.search_codes(["id"], allocated_time=DAY)


def closed_batches(client: Any, _: Path) -> Any:
    batches = codes(client).batches(max_rows=2)
    first = next(iter(batches)).to_pylist()
    batches.close()
    return first, list(batches)


# By the method that a case is about; after a dot, another case of the same method.
CALLS: dict[str, Callable[[Any, Path], Any]] = {
    "search_codes": lambda client, _: client.search_codes(["id", "code_status"], allocated_time=DAY, limit=5),
    "search_codes.invalid": lambda client, _: client.search_codes(["nope"], allocated_time=DAY, limit=-1),
    "search_items": lambda client, _: client.search_items("customer", ["customer_id", "name"], WHO),
    "search_items.unknown": lambda client, _: client.search_items("store", ["id"]),
    "download_segment": lambda client, _: entries(client.download_segment(EXPORT["id"])),
    "download_segment.unknown": lambda client, _: client.download_segment(1),
    "wait_for_segment": lambda client, _: entries(client.wait_for_segment(EXPORT["id"], timeout=20)),
    "wait_for_segment.unknown": lambda client, _: client.wait_for_segment(1, timeout=20),
    "post": lambda client, _: client.post("/access/api/item/search", {"itemTypeId": 1}),
    "validate_codes": lambda client, _: client.validate_codes(["id"], allocated_time=DAY),
    "validate_codes.invalid": lambda client, _: client.validate_codes(["nope"], allocated_time=DAY),
    "validate_items": lambda client, _: client.validate_items("customer", ["name"], WHO),
    "check": check,
    "attributes": lambda client, _: client.attributes("customer"),
    "with_options": lambda client, _: client.with_options(timeout=7, timezone="Asia/Tokyo").settings["timezone"],
    "with_options.unknown": lambda client, _: client.with_options(nope=7),
    "close": closed,
    "scan_codes": lambda client, _: client.scan_codes(["id"], allocated_time=DAY, limit=3).to_dicts(),
    "scan_codes.invalid": lambda client, _: client.scan_codes(["id"], allocated_time="yesterday"),
    "scan_items": lambda client, _: client.scan_items("customer", ["customer_id"], WHO).to_dicts(),
    "to_dicts": lambda client, _: codes(client).to_dicts(),
    "to_pylist": lambda client, _: codes(client, decode_status=True).collect().to_pylist(),
    "collect": lambda client, _: codes(client).collect().to_dicts(),
    "to_arrow": lambda client, _: codes(client).to_arrow().to_pylist(),
    "to_pandas": lambda client, _: codes(client).to_pandas().to_dict(),
    "to_polars": lambda client, _: codes(client).to_polars().to_dict(as_series=False),
    "to_csv": lambda client, folder: written(client, folder, "csv"),
    "to_jsonl": lambda client, folder: written(client, folder, "jsonl"),
    "to_parquet": lambda client, folder: written(client, folder, "parquet"),
    "to_folder": run,
    "read_folder": lambda client, folder: codes(client).read_folder(folder),
    "head": lambda client, _: codes(client).head(3).to_dicts(),
    "count": lambda client, _: codes(client).count(),
    "batches": lambda client, _: [batch.to_pylist() for batch in codes(client).batches(max_rows=10)],
    "batches.close": closed_batches,
    "iter_rows": lambda client, _: [*codes(client).iter_rows()],
    "explain": lambda client, _: str(codes(client).explain()),
    "requests": lambda client, _: json.dumps([*codes(client).requests()], default=str),
    "tasks": lambda client, _: [task.to_dicts() for task in codes(client).tasks()],
    "schema": lambda client, _: (codes(client).schema, codes(client).column_names),
    "last_stats": stats,
}
EXPORT: dict[str, int] = {}


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returned and warned of, or its error with what a program reads of it."""
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            returned = call()
        return returned, [(each.category, str(each.message)) for each in caught]
    except da.DataAccessError as error:
        fields = ("retryable", "status", "code", "argument", "operation", "attempts")
        return type(error), str(error), [getattr(error, name, None) for name in fields]
    except (TypeError, ValueError, OSError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("call", CALLS)
def test_both_clients_do_the_same(call: str, both: list[Any], sandbox: da.Sandbox, tmp_path: Path) -> None:
    EXPORT["id"] = sandbox.start_export()
    sync, asynchronous = both
    found = []
    for number, client in enumerate((sync(sandbox), asynchronous(sandbox))):
        folder = tmp_path / "codes"
        folder.mkdir()
        found.append(outcome(partial(CALLS[call], client, folder)))
        folder.rename(tmp_path / str(number))
    assert found[0] == found[1]


def test_every_method_has_a_case() -> None:
    others = {"serialize", "aclose", "stats", "close"}
    properties = {"base_url", "day_comparison", "is_closed", "is_sandbox", "item_types", "settings", "source_timezone"}
    properties |= {"timezone", "column_names"}
    made = (da.AsyncClient, da.AsyncScan, da.AsyncTask, da.AsyncBatches)
    methods = {name for each in made for name in dir(each) if not name.startswith("_")} - others - properties
    assert methods - {call.partition(".")[0] for call in CALLS} == set()
