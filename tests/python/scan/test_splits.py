"""Requests whose response was capped are requested again in parts: the ids are those of an oracle, each once."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import kinds
from support.arguments import about
from support.raw_server import serving
from support.runs import numbers_in, reasons
from support.streams import response_of

import dataaccess as da

CAP = 60
DAYS = da.days("2024-01-01", "2024-01-06")
STATUSES = [1, 3, 4]


def codes() -> list[dict[str, Any]]:
    """Codes of five days: more than the cap on each but one, fewer than it of each status."""
    draw = random.Random(14)
    return [
        {
            # The ids of a day are not in the order of its times.
            "id": f"code-{day}-{number * 71 % 101:03}",
            "name": "a code",
            "allocated_time": f"2024-01-{day:02} {number % 24:02}:30:00",
            "allocated_audience": f"holder-{draw.randrange(40)}",
            "audience_type": draw.choice([-1003, -1007]),
            "code_status": draw.choice(STATUSES),
        }
        for day, count in enumerate([90, 100, 17, 85, 95], 1)
        for number in range(count)
    ]


CODES = codes()
IDS = sorted(row["id"] for row in CODES)


@pytest.fixture(scope="module", params=["id", "reverse"])
def store(request: pytest.FixtureRequest) -> Iterator[da.Sandbox]:
    """A service that caps responses, in one order of rows or another."""
    with da.Sandbox(switches={"maximum_rows": CAP, "row_order": request.param}) as service:
        service.load("promotion_code", CODES)
        yield service


def scan_of(client: Any, attrs: list[str] | None = None, **options: Any) -> Any:
    return client.scan_codes(attrs, allocated_time=DAYS, on_suspected_cap="split", **options)


def parquet(scan: Any, path: Path) -> list[str]:
    scan.to_parquet(path / "codes.parquet")
    return pl.read_parquet(path / "codes.parquet")["id"].to_list()


def csv(scan: Any, path: Path) -> list[str]:
    scan.to_csv(path / "codes.csv")
    return pl.read_csv(path / "codes.csv")["id"].to_list()


def lines(scan: Any, path: Path) -> list[str]:
    scan.to_jsonl(path / "codes.jsonl")
    return pl.read_ndjson(path / "codes.jsonl")["id"].to_list()


def folder(scan: Any, path: Path) -> list[str]:
    report = scan.to_folder(path / "folder")
    assert (report.maybe_capped, report.warnings) == (False, [])
    return pl.read_parquet(path / "folder/**/*.parquet")["id"].to_list()


USES: dict[str, Callable[[Any, Path], list[str]]] = {
    "collect": lambda scan, _path: scan.collect()["id"],
    "to_polars": lambda scan, _path: scan.to_polars()["id"].to_list(),
    "to_dicts": lambda scan, _path: [row["id"] for row in scan.to_dicts()],
    "to_parquet": parquet,
    "to_csv": csv,
    "to_jsonl": lines,
    "run": folder,
}


@pytest.mark.parametrize("use", USES)
def test_capped_days_are_split_by_status_until_every_row_is_there(
    connect: Any,
    service: da.Sandbox,
    tmp_path: Path,
    use: str,
) -> None:
    ids = USES[use](scan_of(connect(service)), tmp_path)
    assert sorted(ids) == IDS
    days = [name.split("-")[1] for name in ids]
    assert days == sorted(days)


def test_what_was_asked_again_is_counted(connect: Any, service: da.Sandbox) -> None:
    scan = scan_of(connect(service))
    table = scan.collect()
    # Four of five days are capped, and each has three statuses.
    assert (table.stats.rows, table.stats.requests, len(service.requests)) == (len(CODES), 5 + 4 * 3, 17)
    assert not table.stats.maybe_capped
    assert [row["code_status"] for row in table.to_pylist()] != []


def test_a_run_replaces_the_files_of_capped_days_once(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    with pytest.warns(da.IncompleteWarning, match=r"\b4 of 5\b.* 60 "):
        report = client.scan_codes(allocated_time=DAYS).to_folder(tmp_path)
    assert [task.rows for task in report.files] == [CAP, CAP, 17, CAP, CAP]
    service.clear_requests()
    seen: list[da.Progress] = []
    report = scan_of(client).to_folder(tmp_path, progress=seen.append)
    # The capped days once more, and each of their three statuses.
    assert len(service.requests) == 4 * (1 + 3)
    assert [task.rows for task in report.files] == [90, 100, 17, 85, 95]
    assert (report.rows, report.maybe_capped) == (len(CODES), False)
    assert ({progress.done for progress in seen}, seen[-1].rows) == ({5}, len(CODES))
    assert sorted(pl.read_parquet(tmp_path / "**/*.parquet")["id"]) == IDS
    service.clear_requests()
    for again in (scan_of(client), client.scan_codes(allocated_time=DAYS)):
        assert again.to_folder(tmp_path).rows == len(CODES)
        assert again.read_folder(tmp_path).num_rows == len(CODES)
    assert service.requests == []


def test_a_run_says_each_time_what_could_not_be_split(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = scan_of(connect(service), ["id"])
    for requests in (5 + 4, 0):
        service.clear_requests()
        with pytest.warns(da.IncompleteWarning, match=r"\b2024-01-01\b.* 60 .*\bcode_status\b") as caught:
            report = scan.to_folder(tmp_path)
        assert len(caught) == 1
        assert (report.maybe_capped, len(service.requests)) == (True, requests)
        assert [numbers_in(reason)[0] for reason in reasons(report)] == ["2024-01-01", "2024-01-02", "2024-01-04", "1"]


def test_a_split_that_fails_keeps_what_a_run_has(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = scan_of(connect(service, retry_for=0))
    with service.fault("status", status=500, after=7, times=1), pytest.raises(da.ServerError, match=r"\b5 of 5\b"):
        scan.to_folder(tmp_path)
    assert len(list(tmp_path.glob("**/*.parquet"))) == 5
    assert scan.to_folder(tmp_path).rows == len(CODES)


def test_lists_are_halved(connect: Any, service: da.Sandbox) -> None:
    holders = [f"holder-{number}" for number in range(40)]
    scan = scan_of(connect(service), ["id"], allocated_audience=holders, code_status=["sent", "used"])
    expected = sorted(row["id"] for row in CODES if row["code_status"] in (3, 4))
    assert sorted(row["id"] for row in scan.to_dicts()) == expected


def test_items_are_split_by_the_values_of_a_list(connect: Any) -> None:
    rows = [{"store_id": f"store-{number}", "area": str(number % 50)} for number in range(700)]
    with da.Sandbox(switches={"maximum_rows": 200}) as service:
        service.declare("store", 7, {"store_id": "string", "area": "string"})
        service.load("store", rows)
        where = da.col("area").matches([str(number) for number in range(50)])
        scan = connect(service, item_types={"store": 7}, known_row_cap=200).scan_items(
            "store", ["store_id"], where, on_suspected_cap="split"
        )
        assert sorted(row["store_id"] for row in scan.to_dicts()) == sorted(row["store_id"] for row in rows)


def refused(service: da.Sandbox, scan: Any, expected: str, rows: int) -> list[dict[str, Any]]:
    """The rows of a scan some of whose requests cannot be split."""
    with pytest.warns(da.IncompleteWarning, match=expected) as caught:
        found: list[dict[str, Any]] = scan.to_dicts()
    assert len(caught) == 1
    assert len(found) == rows
    assert scan.last_stats.maybe_capped
    assert max(Counter(row["id"] for row in found).values()) == 1
    assert service.requests
    return found


def test_without_the_status_nothing_is_split_by_it(connect: Any, service: da.Sandbox) -> None:
    scan = scan_of(connect(service), ["id"])
    refused(service, scan, r"\b2024-01-01\b.* 60 .*\bcode_status\b", 4 * CAP + 17)


def test_what_cannot_be_split_further_is_named(connect: Any, service: da.Sandbox) -> None:
    scan = connect(service, known_row_cap=40).scan_codes(
        ["id", "code_status"],
        allocated_time=DAYS,
        code_status="sent",
        on_suspected_cap="split",
    )
    counts = Counter(row["allocated_time"][:10] for row in CODES if row["code_status"] == 3)
    assert 40 not in counts.values()
    assert max(counts.values()) < CAP
    assert len(scan.to_dicts()) == sum(counts.values())
    with da.Sandbox(switches={"maximum_rows": 20}) as lower:
        lower.load("promotion_code", CODES)
        scan = connect(lower).scan_codes(["id"], allocated_time=DAYS, code_status="sent", on_suspected_cap="split")
        rows = sum(min(20, count) for count in counts.values())
        refused(lower, scan, r"\b2024-01-02\b.* 20 ", rows)


def test_a_part_that_fails_fails_the_scan(connect: Any, service: da.Sandbox) -> None:
    scan = scan_of(connect(service, retry_for=0))
    with (
        service.fault("status", status=500, after=6, times=1),
        pytest.raises(da.ServerError, match=r"\b\d+ of 12\b"),
    ):
        scan.collect()


def test_rows_that_come_batch_by_batch_are_not_split(service: da.Sandbox) -> None:
    scan = scan_of(service.client())
    for use in (scan.batches, lambda: next(iter(scan.iter_rows())), lambda: pl.DataFrame(scan)):
        with pytest.raises(da.ValidationError, check=about("on_suspected_cap")):
            use()
    assert service.requests == []
    assert pl.DataFrame(scan.collect()).height == len(CODES)


@pytest.mark.parametrize(
    "options",
    [{"limit": 5, "on_suspected_cap": "split"}, {"on_suspected_cap": "raise"}, {"on_suspected_cap": True}],
)
def test_a_limit_and_an_unknown_word_are_refused(client: Any, options: dict[str, Any]) -> None:
    with pytest.raises(da.ValidationError, check=about("on_suspected_cap")):
        client.scan_codes(allocated_time=DAYS, **options)


def test_scans_and_tasks_split_once_they_are_pickled(service: da.Sandbox, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(service.issue_token(["item"]), encoding="utf-8")
    token.chmod(0o600)
    client = da.Client(service.base_url, token=da.token_file(token), known_row_cap=CAP)
    scan = pickle.loads(pickle.dumps(scan_of(client)))
    assert sorted(scan.to_polars()["id"]) == IDS
    tasks = pickle.loads(pickle.dumps(scan.tasks()))
    assert sorted(row["id"] for task in tasks for row in task.to_dicts()) == IDS


def test_statuses_with_names_are_split_by_status_too(connect: Any, service: da.Sandbox) -> None:
    table = scan_of(connect(service), ["id", "code_status"], decode_status=True).collect()
    assert sorted(table["id"]) == IDS
    assert set(table["code_status"]) == {"available", "sent", "used"}
    assert not table.stats.maybe_capped


def test_a_split_day_has_the_types_of_its_folder(connect: Any, tmp_path: Path) -> None:
    times = dict.fromkeys(STATUSES, "2024-01-05 10:00:00")

    def respond(connection: Any, number: int) -> None:
        (conditions,) = (group["AND"] for group in server.requests[number].json["filters"]["OR"])
        statuses = next((each["value"] for each in conditions if each["column"] == "code_status"), STATUSES)
        rows = [{"id": f"c{status}", "code_status": status, "last_used_time": times[status]} for status in statuses]
        connection.sendall(response_of(rows[:2]))

    with serving(respond) as server:
        scan = scan_of(connect(server.base_url, known_row_cap=2), ["id", "code_status", "last_used_time"])
        scan.to_folder(tmp_path)
        # Of a row that only a part of the response has.
        times[STATUSES[2]] = "never"
        with pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path, refresh="2024-01-02")
        (error,) = caught.value.failed.values()
        assert (kinds.kind_of(error), "last_used_time" in str(error)) == (kinds.Record, True)
        # The day has the file that it had.
        table = scan.read_folder(tmp_path)
    assert (table.num_rows, table.schema["last_used_time"]) == (5 * 3, "timestamp")
