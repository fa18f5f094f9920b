"""The composer of the page: the Python line, the command and curl send the request that it shows."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataaccess as da
from dataaccess._client.functions import unconnected_client
from dataaccess._sandbox.composer import composed

TEXT = st.text(min_size=1, max_size=12).filter(lambda text: "\0" not in text and text.isprintable() and "," not in text)
TIMES = [
    {"how": "on", "values": ["2024-01-15"]},
    {"how": "days", "values": ["2024-01-01", "2024-01-04"]},
    {"how": "month", "values": ["2024-02"]},
    {"how": "since", "values": ["2024-01-15"]},
    {"how": "until", "values": ["2024-01-15"]},
    {"how": "after", "values": ["2024-01-15"]},
    {"how": "before", "values": ["2024-01-15"]},
    {"how": "yesterday", "values": []},
    {"how": "last", "values": ["2"]},
]


def compose(**arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(composed(json.dumps(arguments)))
    return answer


def of_curl(line: str) -> dict[str, Any]:
    """The request that a curl line sends."""
    words = shlex.split(line)
    path = words[1].removeprefix("$DATAACCESS_BASE_URL")
    return {"path": path, "body": json.loads(words[words.index("--data-binary") + 1])}


def of_python(line: str) -> list[dict[str, Any]]:
    """The requests of a Python line, none of which is sent."""
    client = unconnected_client("UTC", "exclusive")
    names = {"da": da, "client": client}
    call = line.replace("client.search_", "client.scan_").removesuffix(".to_dicts()")
    return [request["body"] for request in eval(call, names).requests()]


@pytest.mark.parametrize("time", TIMES, ids=lambda time: time["how"])
def test_all_lines_of_a_search_of_codes_send_the_same_requests(time: dict[str, Any]) -> None:
    answer = compose(operation="codes", time=time, attrs=["id", "code_status"], code_status=["sent"])
    bodies = [request["body"] for request in answer["requests"]]
    sent = of_python(answer["python"])
    assert (len(sent), sent[:10]) == (answer["total"], bodies)
    assert of_curl(answer["curl"]) == answer["requests"][0]
    words = shlex.split(answer["command"])
    command = [sys.executable, "-m", "dataaccess", "validate", *words[1:], "--json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [json.loads(line) for line in printed.splitlines()] == sent


@settings(max_examples=40, deadline=None)
@given(name=TEXT, values=st.lists(TEXT, min_size=1, max_size=3))
def test_quotes_of_any_value_stay_what_they_are(name: str, values: list[str]) -> None:
    where = f"col({name!r}).matches({values!r}) | col('opened').on('2024-01-15')"
    answer = compose(operation="items", item_type_name="store", item_type_id=7, attrs=["store_id"], where=where)
    (body,) = [request["body"] for request in answer["requests"]]
    assert of_python(answer["python"]) == [body]
    assert of_curl(answer["curl"])["body"] == body
    words = shlex.split(answer["command"])
    assert words[words.index("--where") + 1] == where


def test_a_segment() -> None:
    answer = compose(operation="segment", export_id=5637051)
    assert answer["python"] == "client.download_segment(5637051)"
    with da.Sandbox.demo() as sandbox:
        sandbox.client().download_segment(5637051)
        assert of_curl(answer["curl"])["body"] == sandbox.requests[0].body


def test_all_problems_are_named() -> None:
    answer = compose(operation="codes", time={"how": "on", "values": ["2024-01-45"]}, attrs=["idd"])
    assert answer["error"]["kind"] == "ConfigError"
    attribute, day = answer["error"]["message"].splitlines()
    assert re.match(r'attrs\[0\]: "idd" .* "id"\?$', attribute)
    assert re.match(r"allocated_time: .* 2024-01-45 ", day)


@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        ({"operation": "delete"}, "operation: .* codes, items, segment$"),
        ({"operation": "codes"}, r"time\.how: .* on, "),
        ({"operation": "codes", "time": {"how": "days", "values": ["2024-01-01"]}}, r"\bdays .* 2 .* 1$"),
        ({"operation": "codes", "time": {"how": "last", "values": ["x"]}}, r"time\.values: .*'x'"),
        ({"operation": "codes", "time": TIMES[0], "attrs": "id"}, "attrs: "),
        ({"operation": "items", "item_type_name": "store", "attrs": ["a"]}, "item_type_id: "),
        ({"operation": "items", "item_type_name": "customer", "attrs": ["a"], "where": "cl('a')"}, r"\bcl\b"),
        ({"operation": "segment", "export_id": True}, "export_id: "),
    ],
)
def test_what_cannot_be_composed_is_refused_in_words(arguments: dict[str, Any], data: str) -> None:
    assert re.search(data, compose(**arguments)["error"]["message"])
