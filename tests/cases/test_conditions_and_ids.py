"""Conditions as they are sent, and ids as they are given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import run
from support.parts import in_parts
from support.raw_server import always, http, serving
from support.streams import client_of

import dataaccess as da
from dataaccess.cli import main

# `code_value_type="normal"` puts `value_type` into each condition of promotion codes, whichever call sends it.
# Source: API specification 4.1 (`value_type` is required without exception) and 2.4 (generic search).

DAY = da.on("2024-01-15")
WHERE = da.col("allocated_time").on("2024-01-15") & da.col("code_status").matches([3, 4])
CALLS: dict[str, Any] = {
    "search_codes": lambda client: client.search_codes(["id"], allocated_time=DAY, code_status=["sent", "used"]),
    "search_items": lambda client: client.search_items("promotion_code", ["id"], WHERE),
    "scan_codes": lambda client: client.scan_codes(["id"], allocated_time=DAY, code_status="used").to_dicts(),
    "split": lambda client: (
        client.with_options(known_row_cap=2).scan_codes(["id"], allocated_time=DAY, on_suspected_cap="split").to_dicts()
    ),
}


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.parametrize("setting", ["normal", None])
@pytest.mark.parametrize("call", CALLS)
def test_each_condition_has_the_value_type(call: str, setting: Any) -> None:
    with serving(always(http())) as server:
        CALLS[call](client_of(server, code_value_type=setting, timezone="UTC"))
        conditions = [each for request in server.requests for each in request.json["filters"]["OR"][0]["AND"]]
    assert conditions
    if (call, setting) != ("search_items", None):
        assert {each.get("value_type") for each in conditions} == {setting}


@pytest.mark.parametrize(("switch", "refused"), [("required", None), ("refused", "normal"), ("optional", "")])
def test_a_switch_of_the_sandbox_requires_or_refuses_the_value_type(switch: str, refused: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"value_type": switch}) as sandbox:
        for setting in ("normal", None):
            client: Any = sandbox.client(code_value_type=setting)
            if setting == refused:
                with pytest.raises(da.RequestRejectedError):
                    client.search_codes(allocated_time=DAY)
            else:
                assert client.search_codes(allocated_time=DAY)


# A condition as text of more than 64 KiB, and filters nested too deeply, are refused at once with no RecursionError.
# Source: a security review.

LONG = f"col('a').matches([{'1,' * 40_000}1])"


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def test_a_long_text_of_a_condition_is_refused_and_a_shorter_one_is_read() -> None:
    with pytest.raises(ValueError, match="65,536"):
        da.filters.parse(LONG)
    ids = [f"demo-customer-{number:04}" for number in range(2_000)]
    assert repr(da.filters.parse(f"col('customer_id').matches({ids})")).startswith("col('customer_id')")


@pytest.mark.parametrize("where", [LONG, *map(deep, (30, 300, 900, 5_000, 100_000))], ids=len)
def test_the_command_refuses_a_long_text(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["items", "customer", "--base-url", "sandbox:demo", "--where", where]) == 2
    assert "RecursionError" not in capsys.readouterr().err


@pytest.mark.parametrize("levels", [30, 300, 900, 5_000])
def test_deep_filters_of_python_are_a_validation_error(sandbox: da.Sandbox, levels: int) -> None:
    where: object = 1
    for _ in range(levels):
        where = {"a": where}
    with pytest.raises(da.ValidationError):
        sandbox.client().search_items("customer", ["customer_id"], where=where)  # type: ignore[arg-type]


# Switches of the sandbox: types that are not shown, codes in the generic shape, and times in seconds.
# Source: API specification 1, 2.2 (`channel_id`, `last_used_*`), 2.4 ("the magnitude indicates milliseconds"), 2.5
# and 4.1.

PATH = "/access/api/item/search"


def test_types_of_codes_and_exports() -> None:
    switches = {"channel_id_type": "string", "last_used_type": "object"}
    types = {"finished_types": "string", "end_time_type": "number"}
    with da.Sandbox.demo(until="2024-02-29", switches={**switches, **types}) as sandbox:
        codes = {"id": "a", "code_status": 4, "allocated_time": "2031-01-15 10:00:00", "channel_id": 3}
        sandbox.load("promotion_code", [{**codes, "last_used_source": "till"}])
        (row,) = sandbox.client().search_codes(["channel_id", "last_used_source"], allocated_time=da.on("2031-01-15"))
        entries: list[Any] = [*sandbox.client().wait_for_segment(5637051, timeout=5)["entries"]]
    assert row == {"channel_id": "3", "last_used_source": {"value": "till"}}
    assert [type(entries[0][name]) for name in ("responseCode", "durations", "endTime")] == [str, str, int]


def generic(value: int) -> dict[str, Any]:
    condition = {"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value_type": "normal"}
    condition |= {"value": value, "condition_type": "comp_attr", "time_unit": "DAY"}  # type: ignore[dict-item] # a body
    filters = {"OR": [{"AND": [condition]}]}
    return {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": filters}


def in_seconds() -> dict[str, Any]:
    body = da.validate_codes(["id"], allocated_time=DAY)
    body["filters"]["OR"][0]["AND"][0]["value"] //= 1_000
    return body


@pytest.mark.parametrize(
    ("body", "switches", "finds"),
    [
        (generic(1_705_276_800_000), {"generic_codes": "accepted"}, True),
        (in_seconds(), {"seconds": "unmatched"}, False),
    ],
)
def test_a_switch_takes_what_is_refused_by_default(body: dict[str, Any], switches: Any, finds: bool) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox, pytest.raises(da.RequestRejectedError):
        sandbox.client().post(PATH, body)
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        expected = sandbox.client().search_codes(["id"], allocated_time=DAY) if finds else []
        assert sandbox.client().post(PATH, body)["data"]["data"] == expected


# A file or an option of ids: a line ends with a line feed only, and only ASCII blanks are no part of an id.
# Source: the line ends of `str.splitlines` in the documentation of Python.

STRANGE = [f"a{each}b" for each in "\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e\r"] + [
    f"{each}c{each}" for each in "\xa0\u3000"
]
ITEMS = ["items", "customer", "--attrs", "customer_id", "--matches"]
COLUMNS = ("customer_id", "allocated_audience")
CODES = ["codes", "--on", "2024-01-15", "--audience-type", "customer", "--audience"]


def requested(sandbox: da.Sandbox, *options: str) -> list[Any]:
    with sandbox.environment():
        done = run(*options, "--explain", "--json")
    assert done.returncode == 0, done.stderr
    conditions = json.loads(done.stdout)["filters"]["OR"][0]["AND"]
    values: list[Any] = next(each["value"] for each in conditions if each["column"] in COLUMNS)
    return values


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ids_of_a_file_keep_their_characters(end: str, sandbox: da.Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    file.write_bytes(f" \t{end}".join([*STRANGE, "", "  d\t"]).encode())
    assert requested(sandbox, *ITEMS, f"customer_id=@{file}") == [*STRANGE, "d"]
    assert requested(sandbox, *CODES, f"@{file}") == [*STRANGE, "d"]


def test_ids_of_an_option_keep_their_characters(sandbox: da.Sandbox) -> None:
    assert requested(sandbox, *ITEMS, f"customer_id={' , '.join(STRANGE)},\td ") == [*STRANGE, "d"]


# A list of ids of customers that finds fewer customers warns how many and names three; `Table.missing_ids()` has all.
# Source: a trial of notebooks; `pandas.read_csv` without a `dtype` reads ids as numbers.

IDS = [f"{number:04}" for number in range(1, 11)]


@pytest.fixture
def client() -> Iterator[da.Client]:
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string"})
        # Two customers have the ids of others without their leading zeros.
        service.load("customer", [{"customer_id": each, "name": "a"} for each in [*IDS[:8], "1", "2"]])
        yield service.client()


USES: dict[str, Callable[..., Any]] = {
    "search": lambda client, *request: client.search_items("customer", *request),
    "dicts": lambda client, *request: client.scan_items("customer", *request).to_dicts(),
    "several requests": lambda client, *request: in_parts(3, client.scan_items, "customer", *request).to_dicts(),
    "split": lambda client, *request: client.scan_items("customer", *request, on_suspected_cap="split").to_dicts(),
    "table": lambda client, *request: client.scan_items("customer", *request).collect(),
    "polars": lambda client, *request: in_parts(3, client.scan_items, "customer", *request).to_polars(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("attrs", "ids", "rows", "shown"),
    [
        (["customer_id", "name"], [int(each) for each in IDS], 2, r'\b8 of 10\b.*"3", "4", "5".*\b5\b'),
        (["customer_id"], IDS, 8, "2 of 10.*0009.*0010"),
        (["name"], [int(each) for each in IDS], 2, "8 of 10.*customer_id"),
    ],
)
def test_ids_without_a_row_warn(client: Any, use: str, attrs: Any, ids: Any, rows: int, shown: str) -> None:
    with pytest.warns(da.MissingIdsWarning, match=shown) as found:
        assert len(USES[use](client, attrs, da.col("customer_id").matches(ids))) == rows
    assert len(found) == 1


def test_a_table_has_the_ids_and_other_conditions_explain_them(client: da.Client) -> None:
    by_ids = da.col("customer_id").matches(IDS)
    with pytest.warns(da.MissingIdsWarning):
        assert client.scan_items("customer", ["customer_id"], by_ids).collect().missing_ids() == ["0009", "0010"]
    # Warnings are errors in tests.
    narrowed = client.scan_items("customer", ["customer_id"], by_ids & da.col("name").equals("b"))
    assert narrowed.collect().missing_ids() == IDS
    assert client.scan_items("customer", ["name"], da.col("name").equals("a")).collect().missing_ids() is None
    found = client.scan_items("customer", ["customer_id"], da.col("customer_id").matches(IDS[:8])).collect()
    assert found.missing_ids() == []
    # A part of the rows says nothing of the others.
    assert len(client.search_items("customer", ["customer_id"], by_ids, limit=3)) == 3


# `dataaccess segment -5` asks for export -5: the argument is no option.
# Source: API specification 4.3: `exportId` is a number.


@pytest.mark.parametrize("words", [["-5"], ["-5", "--timeout", "9"], ["--timeout", "9", "-5"], ["--", "-5"]])
def test_a_segment_id_below_zero(words: list[str]) -> None:
    with da.Sandbox() as sandbox, sandbox.environment():
        sandbox.start_export(export_id=-5, entries=2)
        done = run("segment", "--json", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["meta"]["total"] == 2
