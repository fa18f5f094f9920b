"""Scans of several requests: types, stats and warnings over all responses."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from support import kinds
from support.parts import in_parts
from support.scan_requests import (
    OUTPUTS,
    TYPES,
    ScanRequest,
    rows_of,
    rows_of_batches,
    scan_of_parts,
    scan_server,
)
from support.scan_waits import LONG
from support.streams import column, response_of

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

every_output = pytest.mark.parametrize("output", OUTPUTS)


def of(*responses: list[Any]) -> Any:
    """A service whose parts have these values in a column `a`."""
    return scan_server(lambda asked: response_of([{"n": asked.part, "a": value} for value in responses[asked.part]]))


def scan_of_values(client: Any, parts: int, **options: Any) -> Any:
    names = da.col("n").matches([str(part) for part in range(parts)])
    return in_parts(1, client.scan_items, "store", ["a"], names, item_type_id=7, **options)


@pytest.mark.parametrize(
    ("responses", "kind", "found"),
    [
        ([[1, 2], [None], [3]], "int64", [1, 2, None, 3]),
        ([[1, 2], [2.5], [None]], "double", [1.0, 2.0, 2.5, None]),
        ([[None], [], [True]], "bool", [None, True]),
        ([[1], ["x"], [2.5]], "string", ["1", "x", "2.5"]),
        ([[1], [{"k": 1}], [2**70]], "string", ["1", '{"k":1}', str(2**70)]),
        ([[], [None], []], "string", [None]),
    ],
    ids=["whole numbers", "numbers", "truth", "mixed", "nested", "nothing"],
)
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_types_are_inferred_over_the_rows_of_all_responses(
    connect: Any, responses: list[list[Any]], kind: str, found: list[Any]
) -> None:
    with of(*responses) as parts:
        scan = scan_of_values(connect(parts.base_url), len(responses))
        assert column(scan.to_arrow()) == (kind, found)
        assert [row["a"] for row in scan.to_dicts()] == [value for values in responses for value in values]


def types_of(scan: Any) -> list[str]:
    return [str(batch.to_arrow().schema.field("a").type) for batch in scan.batches()]


def test_in_batches_the_first_response_with_rows_sets_the_types(connect: Any) -> None:
    with of([], [1.5, 2], [None], [3], []) as parts:
        scan = scan_of_values(connect(parts.base_url), 5)
        assert types_of(scan) == ["double"] * 3
        assert parts.asked[:3] == [0, 1, 2] or parts.asked[:2] == [0, 1]
        assert [row["a"] for batch in scan.batches() for row in batch.to_pylist()] == [1.5, 2.0, None, 3.0]


@pytest.mark.parametrize("later", [2.5, "x", True, 2**70, [1]])
def test_a_later_response_of_other_types_is_reported_with_its_fix(connect: Any, later: Any) -> None:
    responses: list[list[Any]] = [[], [1, 2], [3], [4, later]]
    with of(*responses) as parts:
        client = connect(parts.base_url)
        taken: list[Any] = []
        with pytest.raises(da.StreamInterruptedError, match=r"\b4 of 4\b") as caught:
            taken.extend(row["a"] for batch in scan_of_values(client, 4).batches() for row in batch.to_pylist())
        assert taken == [1, 2, 3]
        cause: Any = caught.value.__cause__
        assert isinstance(cause, kinds.Record)
        assert (cause.row, cause.column) == (1, "a")
        kind = "float64" if isinstance(later, float) else "string"
        assert kinds.fixed_by(caught.value) == ["a", kind]
        fixed = scan_of_values(client, 4, schema={"a": kind})
        found = [row["a"] for batch in fixed.batches() for row in batch.to_pylist()]
        texts = ["1", "2", "3", "4", later if later == "x" else json.dumps(later)]
        assert found == ([1, 2, 3, 4, later] if kind == "float64" else texts)


def test_responses_without_rows_are_asked_for_one_by_one_until_types_are_known(connect: Any) -> None:
    with scan_server(lambda asked: response_of(rows_of(asked.part, 0 if asked.part < 3 else 2))) as parts:
        scan = scan_of_parts(connect(parts.base_url), 8, schema=None)
        rows = [row for part in range(3, 8) for row in rows_of(part)]
        assert rows_of_batches(scan) == rows
        assert parts.asked[:4] == [0, 1, 2, 3]
        assert sorted(parts.asked) == list(range(8))
        for output in OUTPUTS.values():
            assert output(scan) == rows


@pytest.mark.parametrize("schema", [TYPES, None], ids=["types known", "types unknown"])
def test_no_rows_at_all(connect: Any, schema: Any) -> None:
    with scan_server(lambda _asked: response_of([])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4, schema=schema)
        for output in OUTPUTS.values():
            assert output(scan) == []
            assert (scan.last_stats.rows, scan.last_stats.requests, scan.last_stats.absent) == (0, 4, [])
            assert scan.last_stats.empty_shape == "data.data []"
        kinds = [pa.string(), pa.string()] if schema is None else [pa.int64(), pa.string()]
        assert scan.to_arrow().schema.types == kinds
        assert scan.to_polars().columns == ["n", "text"]
        if not hasattr(scan, "client"):
            assert pa.table(scan).schema.types == kinds


def test_figures_are_those_of_all_responses(connect: Any) -> None:
    records: list[list[dict[str, Any]]] = [
        [{"n": 1, "more": 1}, {"n": 2, "more": None, "other": 2}],
        [],
        [{"n": 3, "text": None, "other": 3}],
    ]
    with scan_server(lambda asked: response_of(records[asked.part])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        for use in OUTPUTS.values():
            use(scan)
            stats = scan.last_stats
            assert (stats.rows, stats.requests, stats.attempts, stats.retries) == (3, 3, 3, 0)
            assert stats.bytes == sum(len(response_of(rows).partition(b"\r\n\r\n")[2]) for rows in records)
            assert stats.extra_keys == {"more": 2, "other": 2}
            assert stats.absent == [], "one response has it"
            assert stats.empty_shape is None
            assert 0 < stats.seconds < LONG


@every_output
def test_what_no_response_has_is_warned_of_once(connect: Any, output: str) -> None:
    with scan_server(lambda asked: response_of([{"n": asked.part}] if asked.part else [])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4)
        with pytest.warns(da.AbsentAttributeWarning, match="'text'") as caught:
            OUTPUTS[output](scan)
        assert len(caught) == 1
        assert scan.last_stats.absent == ["text"]


@every_output
def test_another_total_of_one_response_is_warned_of(connect: Any, output: str) -> None:
    def respond(asked: ScanRequest) -> bytes:
        return response_of(rows_of(asked.part), meta={"total": 3 if asked.part == 1 else 2})

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.warns(da.IncompleteWarning, match=r"\b3 .*\b2\b") as caught:
            OUTPUTS[output](scan)
        assert len(caught) == 1


def cut_in_vietnam(times: list[str]) -> da.Sandbox:
    """A service that cuts its days in another zone, with a code at each of these times."""
    service = da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh"})
    codes = [{"id": time, "name": "n", "allocated_time": time, "code_status": 3} for time in times]
    service.load("promotion_code", codes)
    return service


@pytest.mark.parametrize("output", OUTPUTS)
def test_rows_of_other_days_are_warned_of_once(connect: Any, output: str) -> None:
    times = [f"2024-01-{day} {hour:02}:30:00" for day in range(14, 18) for hour in range(24)]
    days = da.days("2024-01-14", "2024-01-25")
    with cut_in_vietnam(times) as service:
        scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=days)
        with pytest.warns(da.StrayDayWarning, match=r"\b4 of 5\b.*UTC\+07:00") as caught:
            assert len(OUTPUTS[output](scan)) == len(times)
        assert len(caught) == 1
        right = connect(service, timezone="Asia/Ho_Chi_Minh").scan_codes(["id", "allocated_time"], allocated_time=days)
        assert len(OUTPUTS[output](right)) == len(times)


def test_the_zone_that_is_reported_explains_all_days(connect: Any) -> None:
    # Of the first day there is an evening, which many zones would explain; of the second there is all.
    times = ["2024-01-14 20:00:00", "2024-01-14 23:00:00", "2024-01-15 17:00:00", "2024-01-16 16:59:00"]
    with cut_in_vietnam(times) as service:
        days = da.days("2024-01-15", "2024-01-18")
        scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=days)
        with pytest.warns(da.StrayDayWarning, match=r"UTC\+07:00"):
            scan.collect()
