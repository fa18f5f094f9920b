"""What is JSON and what is not: the tables of `tests/json` and what grows without bound, as rows and as columns.

The decoder's own tests take the same tables at every split and in every place of a response.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.raw_server import http, serving

import dataaccess as da

TABLES = Path(__file__).parents[2] / "json"
ERRORS: dict[str, tuple[type[da.DataAccessError], ...]] = {
    "ok": (),
    "empty": (),
    "invalid": (kinds.InvalidJson,),
    "record": (kinds.Record,),
    "truncated": (kinds.Truncated,),
    "envelope": (kinds.Envelope,),
    "notjson": (kinds.NotJson,),
    "unclosed": (kinds.InvalidJson, kinds.Truncated),
}


@dataclass(frozen=True)
class JsonCase:
    """A line of a table."""

    verdict: str
    name: str
    json: bytes

    @property
    def is_free(self) -> bool:
        """Whether readers of JSON may differ on it."""
        return self.verdict.startswith("free ")

    @property
    def errors(self) -> tuple[type[da.DataAccessError], ...]:
        """What may be raised where the value was requested; nothing when it is valid."""
        return ERRORS[self.verdict.removeprefix("free ").split("/")[0]]


def table(name: str) -> list[JsonCase]:
    """All lines of a table."""
    lines = (TABLES / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    parts = [line.split(" | ", 2) for line in lines if line and not line.startswith("#")]
    return [JsonCase(verdict, name, unescaped(written)) for verdict, name, written in parts]


def unescaped(written: str) -> bytes:
    """`<0A 0D>` are bytes, `<REPEAT 9 400>` is a repeated string, all else is literal."""

    def code(found: re.Match[str]) -> str:
        if found[1].startswith("REPEAT"):
            _, text, times = found[1].split(" ")
            return text * int(times)
        return bytes.fromhex(found[1]).decode("utf-8", "surrogateescape")

    return re.sub("<([^>]*)>", code, written).encode("utf-8", "surrogateescape")


def strictly_loaded(text: bytes) -> Any:
    """The result of Python's own parser, without its extensions of JSON."""

    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text.decode(), parse_constant=refuse)


VALUES = table("values")
DOCUMENTS = table("documents")
MEBIBYTE = 2**20


def rows(client: Any, schema: Any = None) -> Any:
    return scan_of(client, schema).to_dicts()


def columns(client: Any, schema: Any = None) -> Any:
    return scan_of(client, schema).to_arrow().to_pylist()


def batches(client: Any, schema: Any = None) -> Any:
    return [row for batch in scan_of(client, schema).batches() for row in batch.to_pylist()]


def download(client: Any, _schema: Any = None) -> Any:
    return client.download_segment(1)["entries"]


def scan_of(client: Any, schema: Any) -> Any:
    return client.scan_items("store", ["a"], da.col("a").equals("x"), item_type_id=7, schema=schema)


WAYS = [rows, columns, batches]


class Bodies:
    """Responses each request with the body that is set."""

    body = b""

    def __call__(self, connection: Any, _number: int) -> None:
        connection.sendall(http(self.body))


def in_a_record(value: bytes) -> bytes:
    return b'{"code":200,"data":{"status":true,"data":[{"a":%s}]}}' % value


def in_a_skipped_key(value: bytes) -> bytes:
    return b'{"code":200,"data":{"status":true,"data":[{"a":1,"z":%s}]}}' % value


def in_an_entry(value: bytes) -> bytes:
    return b'{"code":200,"data":{"entries":[{"a":%s}]}}' % value


def in_the_envelope(value: bytes) -> bytes:
    return b'{"x":%s,"code":200,"data":{"status":true,"data":[{"a":1}]}}' % value


def raised_by(ask: Callable[..., Any], client: Any, schema: Any = None) -> da.DataAccessError:
    with pytest.raises(da.DataAccessError) as caught:
        ask(client, schema)
    assert str(caught.value).isprintable()
    return caught.value


def exactly(value: Any) -> str:
    """Distinguishes 1 from 1.0 and from True, and 0.0 from -0.0."""
    return repr(value)


@pytest.mark.parametrize("start", range(0, len(VALUES), 100))
def test_each_value_has_its_verdict_in_rows_and_columns(connect: Any, start: int) -> None:
    bodies = Bodies()
    with serving(bodies) as server:
        client = connect(server.base_url, retry_for=0)
        for case in VALUES[start : start + 100]:
            bodies.body = in_a_record(case.json)
            if case.errors:
                for ask in WAYS:
                    error = raised_by(ask, client)
                    assert isinstance(error, case.errors), (case.name, repr(error))
                continue
            expected = strictly_loaded(case.json)
            assert exactly(rows(client)) == exactly([{"a": expected}]), case.name
            as_json = columns(client, {"a": "json"})[0]["a"]
            assert exactly(as_json and strictly_loaded(as_json.encode())) == exactly(expected), case.name
            inferred = columns(client)[0]["a"]
            assert (inferred is None) == (expected is None), case.name
            if isinstance(expected, (str, bool)):
                assert exactly(inferred) == exactly(expected), case.name


def is_beyond_any_float(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max


@pytest.mark.parametrize("start", range(0, len(VALUES), 100))
def test_each_value_has_its_verdict_in_a_download(connect: Any, start: int) -> None:
    bodies = Bodies()
    with serving(bodies) as server:
        client = connect(server.base_url, retry_for=0)
        for case in VALUES[start : start + 100]:
            bodies.body = in_an_entry(case.json)
            if case.errors or is_beyond_any_float(strictly_loaded(case.json)):
                # There are no columns that could be at fault.
                error = raised_by(download, client)
                expected = {kinds.InvalidJson, *case.errors} - {kinds.Record}
                assert kinds.kind_of(error) in expected, (case.name, repr(error))
            else:
                assert exactly(download(client)) == exactly([{"a": strictly_loaded(case.json)}]), case.name


def is_taken_by_python(text: bytes) -> bool:
    try:
        strictly_loaded(text)
    except (ValueError, RecursionError):
        return False
    return True


def test_python_says_the_same_of_what_is_not_free() -> None:
    for case in VALUES:
        assert case.is_free or is_taken_by_python(case.json) == (not case.errors), case.name


@pytest.mark.fault("J9", "J15")
@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.parametrize("case", DOCUMENTS, ids=lambda case: case.name)
def test_each_document_has_its_verdict(connect: Any, case: JsonCase) -> None:
    bodies = Bodies()
    bodies.body = case.json
    with serving(bodies) as server:
        client = connect(server.base_url, retry_for=0)
        for ask in WAYS:
            if case.errors:
                assert isinstance(raised_by(ask, client), case.errors)
            else:
                assert ask(client) == ([{"a": 1}] if case.verdict == "ok" else [])
        # None of them is a download: a sound one lacks its entries.
        expected = case.errors if case.errors and kinds.Record not in case.errors else (kinds.Envelope,)
        assert isinstance(raised_by(download, client), expected)
    assert case.verdict in ERRORS


def test_a_number_of_a_kibibyte_is_kept_to_the_last_digit(connect: Any) -> None:
    bodies = Bodies()
    with serving(bodies) as server:
        client = connect(server.base_url)
        digits = b"1" * 1_024
        bodies.body = in_a_record(digits)
        assert rows(client) == batches(client) == [{"a": int(digits)}]
        assert columns(client) == [{"a": digits.decode()}]
        bodies.body = in_a_record(b'"%s"' % (b"1" * 5_000))
        assert rows(client) == columns(client) == [{"a": "1" * 5_000}]


@pytest.mark.fault("J12")
@pytest.mark.slow
def test_a_record_of_sixty_four_mebibytes_is_the_limit(connect: Any) -> None:
    bodies = Bodies()
    text = b'"%s"' % (b"x" * (64 * MEBIBYTE - len('{"a":""}')))
    with serving(bodies) as server:
        client = connect(server.base_url)
        for ask in (rows, columns):
            bodies.body = in_a_record(text)
            assert [len(row["a"]) for row in ask(client)] == [len(text) - 2]
            for body, field in (
                (in_a_record(text[:-1] + b'x"'), "record"),
                (in_a_skipped_key(text[:-1] + b'x"'), "record"),
                (in_a_record(b"[" + text + b"]"), "record"),
                (in_the_envelope(text[:-1] + b'xxxxxxx"'), "value"),
            ):
                bodies.body = body
                error = raised_by(ask, client)
                assert isinstance(error, kinds.TooLarge), repr(error)
                assert (error.field, error.limit, error.attempts) == (field, 64 * MEBIBYTE, 1)


def test_a_value_that_does_not_fit_is_shown_by_its_field_alone(connect: Any) -> None:
    bodies = Bodies()
    bodies.body = in_a_record(b'"customer \\udead 42"')
    with serving(bodies) as server:
        error: Any = raised_by(rows, connect(server.base_url))
    assert (error.row, error.column, error.value) == (0, "a", '"customer \\udead 42"')
    shown = str(error) + repr(error) + repr(error.history)
    assert not any(part in shown for part in ("customer", "udead"))
