"""Responses that look as if the service had capped them: every use of a scan or search reports them with a reason."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.parts import in_parts
from support.raw_server import always, http, serving
from support.runs import ROWS_OF_DAYS, by_day, by_value, doubtful, numbers_in, reasons, responding, some_days
from support.streams import response_of, scan_of, search_of

import dataaccess as da

DAYS = da.days("2024-01-01", "2024-01-09")
# Rows of eight days at a service that sends no more than 18.
MANY = (30, 45, 7, 0, 12, 50, 60, 18)
# How many of how many responses, their rows, and their days.
CAPPED = ["5", "8", "18", "2024-01-01", "2024-01-02", "2024-01-06", "2"]

USES: dict[str, Callable[[Any, Path], object]] = {
    "collect": lambda scan, _path: scan.collect(),
    "to_pandas": lambda scan, _path: scan.to_pandas(),
    "to_polars": lambda scan, _path: scan.to_polars(),
    "to_arrow": lambda scan, _path: scan.to_arrow(),
    "to_dicts": lambda scan, _path: scan.to_dicts(),
    "batches": lambda scan, _path: list(scan.batches(max_rows=7)),
    "to_parquet": lambda scan, path: scan.to_parquet(path / "rows.parquet"),
    "to_csv": lambda scan, path: scan.to_csv(path / "rows.csv"),
    "to_jsonl": lambda scan, path: scan.to_jsonl(path / "rows.jsonl"),
    "run": lambda scan, path: scan.to_folder(path / "folder"),
}


@pytest.mark.parametrize("use", USES)
def test_equal_highest_counts_are_reported_with_their_days(
    connect: Any,
    tmp_path: Path,
    use: str,
) -> None:
    with some_days(MANY, maximum_rows=18) as service:
        scan = by_day(connect(service), ["id"])
        with pytest.warns(da.IncompleteWarning, match="on_suspected_cap") as caught:
            result = USES[use](scan, tmp_path)
    assert len(caught) == 1
    (reason,) = reasons(result) if isinstance(result, da.FolderReport) else scan.last_stats.reasons
    assert numbers_in(reason) == CAPPED
    assert reason in str(caught[0].message)


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


def test_a_run_of_one_day_that_looks_capped_is_refused_before_it_is_written(connect: Any, tmp_path: Path) -> None:
    with some_days((60, 60, 60), maximum_rows=50) as service:
        for day in range(1, 4):
            scan = connect(service).scan_codes(["id"], allocated_time=da.on(f"2024-01-{day:02}"))
            if day < 3:
                scan.to_folder(tmp_path, on_doubt="error")
            else:
                with pytest.raises(da.ScanIncompleteError, match=r"\b2 of 2\b.* 50 "):
                    scan.to_folder(tmp_path, on_doubt="error")
    assert sorted(path.name for path in tmp_path.glob("day=*/*")) == ["part-0.parquet"] * 2


def test_no_count_is_reported_where_they_differ(connect: Any) -> None:
    with some_days() as service:
        scan = by_day(connect(service))
        assert scan.collect().num_rows == sum(ROWS_OF_DAYS)
        assert (scan.last_stats.maybe_capped, scan.last_stats.reasons) == (False, [])


@pytest.mark.parametrize("ask", [search_of, lambda client: scan_of(client).to_dicts()], ids=["search", "scan"])
@pytest.mark.parametrize(("rows", "is_round"), [(2_000, True), (1_999, False), (100, False)])
def test_a_round_number_of_rows_is_reported(connect: Any, ask: Any, rows: int, is_round: bool) -> None:
    with serving(always(response_of([{"n": 1}] * rows))) as server:
        client = connect(server.base_url)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert len(ask(client)) == rows
    texts = [str(warning.message) for warning in caught if warning.category is da.IncompleteWarning]
    assert [f" {rows} " in text for text in texts] == [True] * is_round


def test_a_limit_is_no_cap(connect: Any) -> None:
    with serving(always(response_of([{"n": 1}] * 3_000))) as server:
        scan = scan_of(connect(server.base_url), limit=2_000)
        assert len(scan.to_dicts()) == scan.collect().num_rows == 2_000
        assert scan_of(connect(server.base_url)).head(1_000).num_rows == 1_000


def test_a_row_for_each_value_that_was_asked_for_is_no_cap(connect: Any) -> None:
    def give(connection: Any, number: int) -> None:
        ((group,),) = [server.requests[number].json["filters"]["OR"][0]["AND"]]
        connection.sendall(response_of([{"n": value} for value in group["value"]]))

    with serving(give) as server:
        where = da.col("n").matches([str(number) for number in range(5_000)])
        scan = connect(server.base_url).scan_items("store", ["n"], where, item_type_id=7)
        assert scan.collect().num_rows == 5_000
        assert not scan.last_stats.maybe_capped


SEARCHES: dict[str, Callable[[Any], object]] = {
    "search": lambda client: client.search_codes(["id"], allocated_time=da.on("2024-01-02")),
    "days": lambda client: client.search_codes(["id"], allocated_time=DAYS),
    "items": lambda client: client.search_items("promotion_code", ["id"], da.col("allocated_time").on("2024-01-02")),
    "scan": lambda client: by_day(client, ["id"]).collect(),
    "task": lambda client: by_day(client, ["id"]).tasks()[1].to_dicts(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_known_cap_is_reported_by_every_search(connect: Any, name: str) -> None:
    with some_days() as service:
        with pytest.warns(da.IncompleteWarning, match=r" 41 .*\bknown_row_cap\b") as caught:
            SEARCHES[name](connect(service, known_row_cap=41))
        assert len(caught) == 1
        SEARCHES[name](connect(service, known_row_cap=42))


def test_a_pickled_task_keeps_the_known_cap(sandbox: da.Sandbox, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(sandbox.issue_token(["item"]), encoding="utf-8")
    token.chmod(0o600)
    client = da.Client(sandbox.base_url, token=da.token_file(token), known_row_cap=73)
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for again in (pickle.loads(pickle.dumps(scan)), pickle.loads(pickle.dumps(scan.tasks()[0]))):
        with pytest.warns(da.IncompleteWarning, match="known_row_cap"):
            again.to_dicts()


def test_responses_without_a_day_are_named_by_their_request(connect: Any) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        connection.sendall(response_of([{"n": 1, "text": "x"}] * (40 if value == "1" else 150)))

    with responding(give) as server:
        scan = by_value(connect(server.base_url), ["0", "1", "2", "3"])
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
        for of, day in (("other", 1), ("query", 2)):
            (tmp_path / of / f"day=2024-01-{day:02}").rename(tmp_path / "codes" / f"day=2024-01-{day:02}")
        (tmp_path / "codes" / "day=2024-01-04").mkdir()
        (tmp_path / "codes" / "day=2024-01-04" / "part-0.parquet").symlink_to(tmp_path / "nowhere")
        # None of them is a day of this run.
        assert scan.to_folder(tmp_path / "codes").kept == 1
        assert scan.to_folder(tmp_path / "codes", refresh="all").refreshed == 1
        assert scan.read_folder(tmp_path / "codes").num_rows == MANY[2]


def numbered(per_value: int) -> Callable[[Any, str, int], None]:
    """As many rows of each value, numbered from its first on."""

    def give(connection: Any, value: str, _before: int) -> None:
        connection.sendall(response_of([{"n": int(value), "text": "x"}] * per_value))

    return give


@pytest.mark.parametrize("use", sorted({*USES} - {"batches"}))
def test_a_row_for_each_id_is_no_cap(connect: Any, tmp_path: Path, use: str) -> None:
    ids = [f"s-{number}" for number in range(100)]
    with da.Sandbox() as service:
        service.declare("store", 7, {"store_id": "string", "name": "string"})
        service.load("store", [{"store_id": store, "name": "x"} for store in ids])
        where = da.col("store_id").matches(ids)
        scan = in_parts(20, connect(service).scan_items, "store", ["store_id"], where, item_type_id=7)
        result = USES[use](scan, tmp_path)
    reported = result if isinstance(result, da.FolderReport) else scan.last_stats
    assert not reported.maybe_capped
    if isinstance(result, da.FolderReport):
        assert doubtful(da.folder_status(result.folder)) == []


def test_the_ids_of_customers_need_not_be_among_the_attributes(connect: Any, tmp_path: Path) -> None:
    ids = [f"c-{number}" for number in range(100)]
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string"})
        service.load("customer", [{"customer_id": customer, "name": "x"} for customer in ids])
        where = da.col("customer_id").matches(ids)
        scan = in_parts(20, connect(service).scan_items, "customer", ["name"], where)
        assert len(scan.to_dicts()) == 100
        assert not scan.last_stats.maybe_capped
        assert not scan.to_folder(tmp_path).maybe_capped
        assert doubtful(da.folder_status(tmp_path)) == []


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


def test_a_cap_below_the_number_of_ids_is_found_in_the_folder_too(connect: Any, tmp_path: Path) -> None:
    ids = [f"s-{number:03}" for number in range(80)]
    with da.Sandbox(switches={"maximum_rows": 15}) as service:
        service.declare("store", 7, {"store_id": "string", "name": "string"})
        service.load("store", [{"store_id": store, "name": "x"} for store in ids])
        scan = in_parts(
            16,
            connect(service).scan_items,
            "store",
            ["store_id"],
            da.col("store_id").matches(ids),
            item_type_id=7,
        )
        with pytest.warns(da.IncompleteWarning, match=r"\b5 of 5\b.* 15 "):
            report = scan.to_folder(tmp_path)
        assert report.rows == 75
        assert len(doubtful(da.folder_status(tmp_path))) == 5


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
def test_a_day_that_was_split_is_not_split_again_because_of_its_total(connect: Any, tmp_path: Path) -> None:
    rows = [{"pool_id": n, "code_status": 3} for n in range(12)]
    body = {"code": 200, "data": {"status": True, "data": rows, "meta": {"total": 40}}}
    with serving(always(http(body))) as server:
        scan = connect(server.base_url).scan_codes(
            ["pool_id", "code_status"], allocated_time=da.days("2024-01-15", "2024-01-17"), on_suspected_cap="split"
        )
        scan.to_folder(tmp_path)
        asked = len(server.requests)
        report = scan.to_folder(tmp_path)
        assert (report.kept, len(server.requests)) == (2, asked)
