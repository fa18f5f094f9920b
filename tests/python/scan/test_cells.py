"""Every type of JSON in every type of column: one written verdict a cell (J1-J3, J13); rows have the wire value."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from support.raw_server import http, serving

import dataaccess as da

TYPES = ["string", "int64", "float64", "bool", "timestamp", "json", None]
"""The words of `schema=`, and none: then the type is inferred."""
ARROW = ["string", "int64", "double", "bool", "timestamp[us]", "string"]

no = da.RecordError
DATE, NO_DATE = "2024-01-15 10:00:00", "2024-02-30 10:00:00"
TIME = dt.datetime(2024, 1, 15, 10)  # noqa: DTZ001 - columns of time have no zone

# The value on the wire, and what it is as string, int64, float64, bool, timestamp, json, inferred.
CELLS: dict[str, list[Any]] = {
    "null": [None, None, None, None, None, None, None],
    "": [None, None, None, None, None, None, None],
    "true": ["true", no, no, True, no, "true", True],
    "false": ["false", no, no, False, no, "false", False],
    "7": ["7", 7, 7.0, no, no, "7", 7],
    "-7": ["-7", -7, -7.0, no, no, "-7", -7],
    "-0": ["-0", 0, -0.0, no, no, "-0", -0.0],
    "7.0": ["7.0", 7, 7.0, no, no, "7.0", 7.0],
    "1e3": ["1e3", 1000, 1000.0, no, no, "1e3", 1000.0],
    "12.50e1": ["12.50e1", 125, 125.0, no, no, "12.50e1", 125.0],
    "0.5": ["0.5", no, 0.5, no, no, "0.5", 0.5],
    "1e-3": ["1e-3", no, 0.001, no, no, "1e-3", 0.001],
    "1e19": ["1e19", no, 1e19, no, no, "1e19", 1e19],
    "9007199254740993": ["9007199254740993", 2**53 + 1, no, no, no, "9007199254740993", 2**53 + 1],
    "9223372036854775807": ["9223372036854775807", 2**63 - 1, no, no, no, "9223372036854775807", 2**63 - 1],
    "-9223372036854775808": ["-9223372036854775808", -(2**63), -(2.0**63), no, no, "-9223372036854775808", -(2**63)],
    "9223372036854775808": ["9223372036854775808", no, 2.0**63, no, no, *["9223372036854775808"] * 2],
    "-9223372036854775809": ["-9223372036854775809", no, no, no, no, *["-9223372036854775809"] * 2],
    "18446744073709551615": ["18446744073709551615", no, no, no, no, *["18446744073709551615"] * 2],
    "18446744073709551616": ["18446744073709551616", no, 2.0**64, no, no, *["18446744073709551616"] * 2],
    "9" * 400: ["9" * 400, no, no, no, no, "9" * 400, "9" * 400],
    "1e400": [no, no, no, no, no, no, no],
    '""': ["", no, no, no, no, '""', ""],
    '"x"': ["x", no, no, no, no, '"x"', "x"],
    '"7"': ["7", no, no, no, no, '"7"', "7"],
    '"true"': ["true", no, no, no, no, '"true"', "true"],
    '"null"': ["null", no, no, no, no, '"null"', "null"],
    '"a\\u0000\\n"': ["a\0\n", no, no, no, no, '"a\\u0000\\n"', "a\0\n"],
    f'"{DATE}"': [DATE, no, no, no, TIME, f'"{DATE}"', DATE],
    '"2024-02-30 10:00:00"': [NO_DATE, no, no, no, no, f'"{NO_DATE}"', NO_DATE],
    "[]": ["[]", no, no, no, no, "[]", "[]"],
    "{}": ["{}", no, no, no, no, "{}", "{}"],
    '[1, {"k": null}]': ['[1,{"k":null}]', no, no, no, no, *['[1,{"k":null}]'] * 2],
    '{"k": 1.0, "k": -0}': ['{"k":1.0,"k":-0}', no, no, no, no, *['{"k":1.0,"k":-0}'] * 2],
    '{"k": 18446744073709551616}': [f'{{"k":{2**64}}}', no, no, no, no, *[f'{{"k":{2**64}}}'] * 2],
}  # fmt: skip


class Records:
    """Answers each request with one record that has this value, or lacks it; and one that is all null."""

    value = ""

    def __call__(self, connection: Any, _number: int) -> None:
        member = f',"a":{self.value}' if self.value else ""
        records = f'{{"n":0{member}}},{{"n":1,"a":null}}'
        connection.sendall(http(f'{{"code":200,"data":{{"status":true,"data":[{records}]}}}}'.encode()))


def scan_of(client: Any, name: str | None) -> Any:
    schema = {"a": name} if name else None
    return client.scan_items("store", ["n", "a"], da.col("n").equals("x"), item_type_id=7, schema=schema)


def collected(scan: Any) -> Any:
    return scan.to_arrow()


def streamed(scan: Any) -> Any:
    (batch,) = scan.batches()
    return batch.to_arrow()


def cell(table: Any) -> Any:
    first, second = table.column("a").to_pylist()
    assert second is None
    return first


@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
@pytest.mark.parametrize("name", TYPES)
def test_each_value_is_in_each_type_of_column_what_the_table_says(connect: Any, name: Any) -> None:
    records = Records()
    with serving(records) as server:
        client = connect(server.base_url)
        for wire, verdicts in CELLS.items():
            records.value = wire
            verdict = verdicts[TYPES.index(name)]
            for use in (collected, streamed):
                scan = scan_of(client, name)
                if verdict is no:
                    with pytest.raises(da.RecordError) as caught:
                        use(scan)
                    assert (caught.value.row, caught.value.column) == (0, "a"), (wire, name)
                    assert caught.value.attempts == 1
                else:
                    table = use(scan)
                    assert repr(cell(table)) == repr(verdict), (wire, name)
                    if name:
                        assert str(table.schema.field("a").type) == ARROW[TYPES.index(name)]


@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
def test_rows_have_the_wire_value_whatever_the_schema(connect: Any) -> None:
    records = Records()
    with serving(records) as server:
        client = connect(server.base_url)
        for number, (wire, verdicts) in enumerate(CELLS.items()):
            records.value = wire
            scan = scan_of(client, TYPES[number % len(TYPES)])
            if verdicts[0] is no:
                with pytest.raises(da.RecordError):
                    scan.to_dicts()
                continue
            expected = json.loads(wire or "null")
            assert repr(scan.to_dicts()) == repr([{"n": 0, "a": expected}, {"n": 1, "a": None}]), wire
            found = client.search_items("store", ["n", "a"], da.col("n").equals("x"), item_type_id=7)
            assert repr(found[0]["a"]) == repr(expected), wire


# Numbers that no 64-bit float holds, however they are written.
ROUNDED = ["9007199254740993.0", "90071992547409930e-1", "9.007199254740993e15", "1e-400", "-1e-400", "1e-330"]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("wire", [*ROUNDED, *CELLS])
def test_no_number_is_rounded_in_silence(wire: str, name: Any) -> None:
    if not wire or wire[0] not in "-0123456789":
        return
    records = Records()
    records.value = wire
    with serving(records) as server:
        client = da.Client(server.base_url, token="tok")
        try:
            found = cell(scan_of(client, name).to_arrow())
        except da.RecordError:
            return
    exact = Fraction(Decimal(wire))
    if isinstance(found, float) and exact.denominator == 1 and abs(exact) < 2**63:
        assert Fraction(found) == exact
    elif isinstance(found, float):
        # The nearest float, and never nothing of something.
        assert found == float(wire)
        assert (found == 0) == (exact == 0)
    else:
        assert Fraction(Decimal(found)) == exact
