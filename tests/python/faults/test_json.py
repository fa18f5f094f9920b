"""What is JSON and what is not: the tables of `tests/json` and what grows without bound, as rows and as columns.

The decoder's own tests take the same tables at every split and in every place of a response.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
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


def rows(client: Any, schema: Any) -> Any:
    return scan_of(client, schema).to_dicts()


def columns(client: Any, schema: Any) -> Any:
    return scan_of(client, schema).to_arrow().to_pylist()


def batches(client: Any, schema: Any) -> Any:
    return [row for batch in scan_of(client, schema).batches() for row in batch.to_pylist()]


def download(client: Any, _schema: Any) -> Any:
    return client.download_segment(1)["entries"]


def scan_of(client: Any, schema: Any) -> Any:
    return client.scan_items("store", ["a"], da.col("a").equals("x"), item_type_id=7, schema=schema)


Ask = Callable[[Any, Any], Any]
Answered = Callable[..., Any]
WAYS: list[Ask] = [rows, columns, batches]

# Where a value may be.
RECORD = b'{"code":200,"data":{"status":true,"data":[{"a":%s}]}}'
SKIPPED_KEY = b'{"code":200,"data":{"status":true,"data":[{"a":1,"z":%s}]}}'
ENTRY = b'{"code":200,"data":{"entries":[{"a":%s}]}}'
ENVELOPE = b'{"x":%s,"code":200,"data":{"status":true,"data":[{"a":1}]}}'


@pytest.fixture
def answered(connect: Any) -> Iterator[Answered]:
    """What a way to ask makes of a response with a body."""
    content = b""

    def answered(ask: Ask, body: bytes, schema: Any = None, **options: Any) -> Any:
        nonlocal content
        content = body
        return ask(client.with_options(**options), schema)

    with serving(lambda connection, _number: connection.sendall(http(content))) as server:
        client = connect(server.base_url)
        yield answered


def refused(answered: Answered, ask: Ask, body: bytes, **options: Any) -> da.DataAccessError:
    with pytest.raises(da.DataAccessError) as caught:
        answered(ask, body, **options)
    assert str(caught.value).isprintable()
    return caught.value


# The `repr` of 1, 1.0 and True differs, and of 0.0 and -0.0.


@pytest.mark.parametrize("start", range(0, len(VALUES), 100))
def test_each_value_has_its_verdict_in_rows_and_columns(answered: Answered, start: int) -> None:
    for case in VALUES[start : start + 100]:
        body = RECORD % case.json
        if case.errors:
            for ask in WAYS:
                error = refused(answered, ask, body, retry_for=0)
                assert isinstance(error, case.errors), (case.name, repr(error))
            continue
        expected = strictly_loaded(case.json)
        assert repr(answered(rows, body)) == repr([{"a": expected}]), case.name
        as_json = answered(columns, body, {"a": "json"})[0]["a"]
        assert repr(as_json and strictly_loaded(as_json.encode())) == repr(expected), case.name
        inferred = answered(columns, body)[0]["a"]
        assert (inferred is None) == (expected is None), case.name
        if isinstance(expected, (str, bool)):
            assert repr(inferred) == repr(expected), case.name


def is_beyond_any_float(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max


@pytest.mark.parametrize("start", range(0, len(VALUES), 100))
def test_each_value_has_its_verdict_in_a_download(answered: Answered, start: int) -> None:
    for case in VALUES[start : start + 100]:
        body = ENTRY % case.json
        if case.errors or is_beyond_any_float(strictly_loaded(case.json)):
            # There are no columns that could be at fault.
            error = refused(answered, download, body, retry_for=0)
            expected = {kinds.InvalidJson, *case.errors} - {kinds.Record}
            assert kinds.kind_of(error) in expected, (case.name, repr(error))
        else:
            assert repr(answered(download, body)) == repr([{"a": strictly_loaded(case.json)}]), case.name


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
def test_each_document_has_its_verdict(answered: Answered, case: JsonCase) -> None:
    for ask in WAYS:
        if case.errors:
            assert isinstance(refused(answered, ask, case.json, retry_for=0), case.errors)
        else:
            assert answered(ask, case.json) == ([{"a": 1}] if case.verdict == "ok" else [])
    # None of them is a download: a sound one lacks its entries.
    expected = case.errors if case.errors and kinds.Record not in case.errors else (kinds.Envelope,)
    assert isinstance(refused(answered, download, case.json, retry_for=0), expected)
    assert case.verdict in ERRORS


def test_a_number_of_a_kibibyte_is_kept_to_the_last_digit(answered: Answered) -> None:
    digits = b"1" * 1_024
    assert answered(rows, RECORD % digits) == answered(batches, RECORD % digits) == [{"a": int(digits)}]
    assert answered(columns, RECORD % digits) == [{"a": digits.decode()}]
    text = RECORD % (b'"%s"' % (b"1" * 5_000))
    assert answered(rows, text) == answered(columns, text) == [{"a": "1" * 5_000}]


@pytest.mark.fault("J12")
@pytest.mark.slow
def test_a_record_of_sixty_four_mebibytes_is_the_limit(answered: Answered) -> None:
    text = b'"%s"' % (b"x" * (64 * MEBIBYTE - len('{"a":""}')))
    for ask in (rows, columns):
        assert [len(row["a"]) for row in answered(ask, RECORD % text)] == [len(text) - 2]
        for body, field in (
            (RECORD % (text[:-1] + b'x"'), "record"),
            (SKIPPED_KEY % (text[:-1] + b'x"'), "record"),
            (RECORD % (b"[" + text + b"]"), "record"),
            (ENVELOPE % (text[:-1] + b'xxxxxxx"'), "value"),
        ):
            error = refused(answered, ask, body)
            assert isinstance(error, kinds.TooLarge), repr(error)
            assert (error.field, error.limit, error.attempts) == (field, 64 * MEBIBYTE, 1)


def test_a_value_that_does_not_fit_is_shown_by_its_field_alone(answered: Answered) -> None:
    error: Any = refused(answered, rows, RECORD % b'"customer \\udead 42"')
    assert (error.row, error.column, error.value) == (0, "a", '"customer \\udead 42"')
    shown = str(error) + repr(error) + repr(error.history)
    assert not any(part in shown for part in ("customer", "udead"))
