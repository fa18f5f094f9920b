"""Every type of JSON in every type of column: one written verdict a cell (J1-J3, J13); rows have the wire value."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from support import kinds
from support.raw_server import http, serving

import dataaccess as da

TYPES = ["string", "int64", "float64", "bool", "timestamp", "json", None]
"""The words of `schema=`, and none: then the type is inferred."""
ARROW = ["string", "int64", "double", "bool", "timestamp[us]", "string"]

no = kinds.Record
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
    """Responses each request with one record that has this value, or lacks it; and one that is all null."""

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


@pytest.mark.fault("J2", "J3")
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
                    with pytest.raises(kinds.Record) as caught:
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
            search = partial(client.search_items, "store", ["n", "a"], da.col("n").equals("x"), item_type_id=7)
            for use in (scan.to_dicts, search):
                if verdicts[0] is no:
                    with pytest.raises(kinds.Record):
                        use()
                else:
                    expected = [{"n": 0, "a": json.loads(wire or "null")}, {"n": 1, "a": None}]
                    assert repr(use()) == repr(expected), wire


# What a 64-bit float rounds to another integer or to zero, what it holds at its limits, and what is just beyond them.
NUMBERS = [
    *["9007199254740993.0", "90071992547409930e-1", "9.007199254740993e15", "1e-400", "-1e-400", "1e-330", "2e-324"],
    *["3e-324", "9007199254740992", "9007199254740992.5", "1e22", "1e23", "9223372036854775807.0"],
    *["9223372036854775808.0", "1.7976931348623157e308", "1.7976931348623159e308", "0e400", "-0.0"],
    *(wire for wire in CELLS if wire[:1] in {*"-0123456789"}),
]


def without_rounding(wire: str, name: str | None) -> Any:
    """What a number is in a column, computed with exact fractions."""
    exact, float64, is_integer = Fraction(Decimal(wire)), float(wire), wire.lstrip("-").isdecimal()
    if name in {"bool", "timestamp"} or (math.isinf(float64) and not is_integer):
        return no
    if name in {"string", "json"}:
        return wire
    whole = int(exact) if exact.denominator == 1 and -(2**63) <= exact < 2**63 else no
    near = float64 if is_held(exact, float64, wire) else no
    if name:
        return whole if name == "int64" else near
    # Inferred: an integer is no float, except for the sign of -0, and what fits neither is a string.
    inferred = [whole] if is_integer and wire != "-0" else [near, whole]
    return next((number for number in inferred if number is not no), wire)


def is_held(exact: Fraction, float64: float, wire: str) -> bool:
    """Whether a float is a number: exactly an integer, and the nearest one to a fraction, but not zero."""
    if math.isinf(float64) or exact.denominator > 1:
        return math.isfinite(float64) and float64 != 0
    # With an exponent only the written digits count: 1e23 fits, although no float is 10**23.
    digits = len(Decimal(wire).as_tuple().digits)
    return Fraction(float64) == exact or ("e" in wire and Decimal(f"{float64:.{digits - 1}e}") == Decimal(wire))


@pytest.mark.parametrize("name", TYPES)
def test_no_number_is_rounded_in_silence(name: str | None) -> None:
    records = Records()
    with serving(records) as server, da.Client(server.base_url, token="tok") as client:
        for wire in NUMBERS:
            records.value = wire
            try:
                found = cell(scan_of(client, name).to_arrow())
            except da.ResponseError as error:
                found = kinds.kind_of(error)
            assert repr(found) == repr(without_rounding(wire, name)), (wire, name)
