"""Responses that look as if the service had capped them: reported with a reason, or requested again in parts."""

from __future__ import annotations

import pickle
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import kinds
from support.arguments import about
from support.environment import in_parts
from support.raw_server import always, serving
from support.runs import by_day, by_value, doubtful, giving, numbers_in, reasons, responding, some_days
from support.scan_requests import OUTPUTS
from support.streams import response_of, scan_of

import dataaccess as da

# Rows of eight days at a service that sends no more than 18.
MANY = (30, 45, 7, 0, 12, 50, 60, 18)
# How many of how many responses, their rows, and their days.
CAPPED = ["5", "8", "18", "2024-01-01", "2024-01-02", "2024-01-06", "2"]


def folder(scan: Any, path: Path) -> list[str]:
    report = scan.to_folder(path / "folder")
    assert report.maybe_capped == bool(reasons(report))
    return pl.read_parquet(path / "folder/**/*.parquet", hive_partitioning=False).to_series(0).to_list()


def of_output(output: str) -> Callable[[Any, Path], list[str]]:
    return lambda scan, _path: [row[scan.column_names[0]] for row in OUTPUTS[output](scan)]


# Each gives the first column. Batches are not split.
USES = {**{output: of_output(output) for output in OUTPUTS if output != "batches"}, "run": folder}


@pytest.mark.parametrize("use", USES)
def test_equal_highest_counts_are_reported_with_their_days(connect: Any, tmp_path: Path, use: str) -> None:
    with some_days(MANY, maximum_rows=18) as service:
        scan = by_day(connect(service), ["id"])
        with pytest.warns(da.IncompleteWarning) as caught:
            USES[use](scan, tmp_path)
    (warning,) = caught
    assert use == "run" or [numbers_in(reason) for reason in scan.last_stats.reasons] == [CAPPED]
    assert " ".join(CAPPED[2:6]) in " ".join(numbers_in(str(warning.message)))


@pytest.mark.fault("S18")
@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
def test_runs_of_one_day_report_what_a_run_of_all_days_would(connect: Any, tmp_path: Path) -> None:
    with some_days(MANY, maximum_rows=18) as service:
        client = connect(service)
        reports = []
        for day in range(1, 9):
            scan = client.scan_codes(["id"], allocated_time=da.on(f"2024-01-{day:02}"))
            reports.append(scan.to_folder(tmp_path / "codes"))
        # Of all days in one run.
        whole = by_day(client, ["id"]).to_folder(tmp_path / "codes")

    # The 1st, 2nd, 6th, 7th and 8th have 18 rows. Three such numbers may be chance.
    assert [report.maybe_capped for report in reports] == [False] * 6 + [True] * 2
    (beside,) = reasons(reports[-1])
    # Of this run, and of the other files of the folder.
    assert numbers_in(beside) == ["1", "1", "4", "7", "18", "2024-01-08"]
    assert reports[-1].doubtful_days == ["2024-01-08"]
    assert beside in reports[-1].warnings[0]
    assert len(whole.doubtful_days) == 5


def test_a_run_is_reported_as_capped_by_its_counts(connect: Any, store: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(store, known_row_cap=41))
    with pytest.warns(da.IncompleteWarning) as caught:
        report = scan.to_folder(tmp_path)
    assert len(caught) == 1
    assert report.maybe_capped
    (reason,) = reasons(report)
    assert (numbers_in(reason), "known_row_cap" in reason) == (["1", "8", "41", "2024-01-02"], True)
    assert report.warnings == [str(caught[0].message)]
    # What is suspected belongs to the report and not to the folder.
    assert not by_day(connect(store)).to_folder(tmp_path).maybe_capped
    with pytest.warns(da.IncompleteWarning):
        scan.to_folder(tmp_path)
    assert not by_day(connect(store, known_row_cap=42)).to_folder(tmp_path).maybe_capped


def test_a_limit_is_no_cap(connect: Any) -> None:
    with serving(always(response_of([{"n": 1}] * 3_000))) as server:
        scan = scan_of(connect(server.base_url), limit=2_000)
        assert len(scan.to_dicts()) == scan.collect().num_rows == 2_000
        assert scan_of(connect(server.base_url)).head(1_000).num_rows == 1_000


SEARCHES: dict[str, Callable[[Any], object]] = {
    "search": lambda client: client.search_codes(["id"], allocated_time=da.on("2024-01-02")),
    "items": lambda client: client.search_items("promotion_code", ["id"], da.col("allocated_time").on("2024-01-02")),
    "task": lambda client: by_day(client, ["id"]).tasks()[1].to_dicts(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_known_cap_is_reported_by_every_search(connect: Any, store: da.Sandbox, name: str) -> None:
    with pytest.warns(da.IncompleteWarning, match=r" 41 ") as caught:
        SEARCHES[name](connect(store, known_row_cap=41))
    assert len(caught) == 1
    SEARCHES[name](connect(store, known_row_cap=42))


def test_responses_without_a_day_are_named_by_their_request(connect: Any) -> None:
    rows = {value: [{"n": 1, "text": "x"}] * (40 if value == "1" else 150) for value in "0123"}
    with responding(giving(rows)) as server:
        scan = by_value(connect(server.base_url), list(rows))
        with pytest.warns(da.IncompleteWarning, match=r"3 of 4 .*\(request 1, request 3, request 4\)"):
            scan.to_dicts()


def test_other_days_only_advise(connect: Any, tmp_path: Path) -> None:
    with some_days(MANY) as service:
        client = connect(service)
        scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-03"))
        scan.to_folder(tmp_path / "codes")
        client.scan_codes(["id"], allocated_time=da.on("2024-01-01")).to_folder(tmp_path / "other")
        client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-02")).to_folder(tmp_path / "query")
        (tmp_path / "other" / "day=2024-01-01" / "notes.txt").touch()
        for of, day in (("other", "day=2024-01-01"), ("query", "day=2024-01-02")):
            (tmp_path / of / day).rename(tmp_path / "codes" / day)
        (tmp_path / "codes" / "day=2024-01-04").mkdir()
        (tmp_path / "codes" / "day=2024-01-04" / "part-0.parquet").symlink_to(tmp_path / "nowhere")
        # None of them is a day of this run.
        assert scan.to_folder(tmp_path / "codes").kept == 1
        assert scan.to_folder(tmp_path / "codes", refresh="all").refreshed == 1
        assert scan.read_folder(tmp_path / "codes").num_rows == MANY[2]


@pytest.mark.parametrize("use", ["dicts", "collect", "run"])
def test_a_row_for_each_id_is_no_cap(connect: Any, tmp_path: Path, use: str) -> None:
    """The ids of customers need not be among the attributes."""
    ids = [f"c-{number}" for number in range(100)]
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string"})
        service.load("customer", [{"customer_id": one, "name": "x"} for one in ids])
        where = da.col("customer_id").matches(ids)
        # Warnings are errors here.
        assert len(USES[use](in_parts(20, connect(service).scan_items, "customer", ["name"], where), tmp_path)) == 100


@pytest.mark.parametrize(("way", "number"), [("warn", 500), ("split", 12)])
def test_a_total_unlike_the_records_is_reported_each_night(connect: Any, tmp_path: Path, way: str, number: int) -> None:
    rows = [{"pool_id": n, "code_status": 3} for n in range(12)]
    with serving(always(response_of(rows, meta={"total": 500}))) as server:
        scan = connect(server.base_url).scan_codes(
            ["pool_id", "code_status"], allocated_time=da.days("2024-01-15", "2024-01-17"), on_suspected_cap=way
        )
        for night in range(2):
            asked = len(server.requests)
            with pytest.warns(da.IncompleteWarning, match=rf"\b{number} ") as caught:
                report = scan.to_folder(tmp_path)
            assert (len(caught), report.kept, len(report.doubtful_days)) == (1, 2 * night, 2)
            assert caught[0].filename == __file__
        assert len(server.requests) == asked


CAP = 60
WEEK = da.days("2024-01-01", "2024-01-06")
STATUSES = [1, 3, 4]


draw = random.Random(14)
# Codes of five days: more than the cap on each but one, fewer than it of each status.
CODES: list[dict[str, Any]] = [
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
IDS = sorted(row["id"] for row in CODES)


@pytest.fixture(scope="module", params=["id", "reverse"])
def service(request: pytest.FixtureRequest) -> Iterator[da.Sandbox]:
    """A service that caps responses, in one order of rows or another."""
    with da.Sandbox(switches={"maximum_rows": CAP, "row_order": request.param}) as service:
        service.load("promotion_code", CODES)
        yield service


@pytest.fixture(autouse=True)
def _cleared(request: pytest.FixtureRequest) -> None:
    if "service" in request.fixturenames:
        request.getfixturevalue("service").clear_requests()


def splitting(client: Any, attrs: list[str] | None = None, **options: Any) -> Any:
    return client.scan_codes(attrs, allocated_time=WEEK, on_suspected_cap="split", **options)


@pytest.mark.parametrize("use", USES)
def test_capped_days_are_split_by_status_until_every_row_is_there(
    connect: Any, service: da.Sandbox, tmp_path: Path, use: str
) -> None:
    # Warnings are errors here.
    ids = USES[use](scan := splitting(connect(service), ["id", "code_status"], decode_status=True), tmp_path)
    assert sorted(ids) == IDS
    days = [name.split("-")[1] for name in ids]
    assert days == sorted(days)
    # Four of five days are capped, and each has three statuses. A run requests a day that has a file once more.
    assert len(service.requests) == 5 + 4 * (4 if use == "run" else 3)
    if use != "run":
        assert (scan.last_stats.rows, scan.last_stats.requests) == (len(CODES), 5 + 4 * 3)
        assert not scan.last_stats.maybe_capped


def test_a_run_says_each_time_what_could_not_be_split(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = splitting(connect(service), ["id"])
    for requests in (5 + 4, 0):
        service.clear_requests()
        with pytest.warns(da.IncompleteWarning, match=r"\b2024-01-01\b.* 60 .*\bcode_status\b") as caught:
            report = scan.to_folder(tmp_path)
        assert len(caught) == 1
        assert (report.maybe_capped, len(service.requests)) == (True, requests)
        assert [numbers_in(reason)[0] for reason in reasons(report)] == ["2024-01-01", "2024-01-02", "2024-01-04", "1"]


def test_a_split_that_fails_keeps_what_a_run_has(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = splitting(connect(service, retry_for=0))
    with service.fault("status", status=500, after=7, times=1), pytest.raises(da.ServerError, match=r"\b5 of 5\b"):
        scan.to_folder(tmp_path)
    assert len(list(tmp_path.glob("**/*.parquet"))) == 5
    assert scan.to_folder(tmp_path).rows == len(CODES)
    with service.fault("status", status=500, after=6, times=1), pytest.raises(da.ServerError, match=r"\b\d+ of 12\b"):
        scan.collect()


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


def test_rows_that_come_batch_by_batch_are_not_split(service: da.Sandbox) -> None:
    scan = splitting(service.client())
    for use in (scan.batches, scan.to_lazyframe, lambda: next(iter(scan.iter_rows())), lambda: pl.DataFrame(scan)):
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
        client.scan_codes(allocated_time=WEEK, **options)


def test_scans_and_tasks_split_once_they_are_pickled(service: da.Sandbox, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(service.issue_token(["item"]), encoding="utf-8")
    token.chmod(0o600)
    client = da.Client(service.base_url, token=da.token_file(token), known_row_cap=CAP)
    scan = pickle.loads(pickle.dumps(splitting(client)))
    assert sorted(scan.to_polars()["id"]) == IDS
    tasks = pickle.loads(pickle.dumps(scan.tasks()))
    assert sorted(row["id"] for task in tasks for row in task.to_dicts()) == IDS


def test_a_split_day_has_the_types_of_its_folder(connect: Any, tmp_path: Path) -> None:
    times = dict.fromkeys(STATUSES, "2024-01-05 10:00:00")

    def respond(connection: Any, number: int) -> None:
        (conditions,) = (group["AND"] for group in server.requests[number].json["filters"]["OR"])
        statuses = next((each["value"] for each in conditions if each["column"] == "code_status"), STATUSES)
        rows = [{"id": f"c{status}", "code_status": status, "last_used_time": times[status]} for status in statuses]
        connection.sendall(response_of(rows[:2]))

    with serving(respond) as server:
        scan = splitting(connect(server.base_url, known_row_cap=2), ["id", "code_status", "last_used_time"])
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


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
def test_a_split_day_is_as_old_as_the_first_of_its_requests(connect: Any, tmp_path: Path) -> None:
    whole: list[datetime] = []

    def respond(connection: Any, number: int) -> None:
        (conditions,) = (group["AND"] for group in server.requests[number].json["filters"]["OR"])
        statuses = next((each["value"] for each in conditions if each["column"] == "code_status"), STATUSES)
        if statuses == STATUSES:
            whole.append(datetime.now(UTC))
        time.sleep(0.02)
        connection.sendall(response_of([{"id": f"c{status}", "code_status": status} for status in statuses][:2]))

    with serving(respond) as server:
        scan = splitting(connect(server.base_url, known_row_cap=2), ["id", "code_status"])
        files = scan.to_folder(tmp_path).files
    # It says whether the day was over: its parts were requested later.
    assert max(file.requested_at for file in files) <= max(whole)


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
def test_days_before_the_first_one_that_was_split_are_found(connect: Any, tmp_path: Path) -> None:
    with some_days((60,) * 8, maximum_rows=50) as service:
        client = connect(service)

        def scan_of(start: int, stop: int) -> Any:
            days = da.days(f"2024-01-0{start}", f"2024-01-0{stop}")
            return client.scan_codes(["id", "code_status"], allocated_time=days, on_suspected_cap="split")

        nights = [scan_of(day, day + 1).to_folder(tmp_path) for day in range(1, 8)]
        # Until three are alike, no night knows of a cap.
        assert [night.rows for night in nights] == [50, 50, *[60] * 5]
        assert [file.day for file in doubtful(da.folder_status(tmp_path))] == ["2024-01-01", "2024-01-02"]
        assert scan_of(1, 8).to_folder(tmp_path).rows == 7 * 60
        assert doubtful(da.folder_status(tmp_path)) == []


@pytest.mark.parametrize("other", [None, 2, "4", 3.5], ids=repr)
def test_records_of_another_status_are_not_lost(connect: Any, other: Any) -> None:
    own = [{"id": f"{n}", "code_status": 3 if n else other} for n in range(1_000)]
    options = {"allocated_time": da.on("2024-01-15"), "on_suspected_cap": "split", "schema": {"code_status": "json"}}
    with serving(always(response_of(own))) as server:
        scan = connect(server.base_url).scan_codes(["id", "code_status"], **options)
        for use in (scan.to_dicts, lambda: scan.collect().to_pylist()):
            with pytest.warns(da.IncompleteWarning, match="2024-01-15"):
                assert use() == own
        assert len(server.requests) == 2
