"""The body of `post` is what `json.dumps` writes: the core writes the usual types, Python all others."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest
from support.arguments import about
from support.raw_server import http, serving

import dataaccess as da


class Status(IntEnum):
    USED = 4


class Name(str):
    __slots__ = ()


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


BODIES = {
    "usual types": {"a": "x", "b": 1, "c": [True, False, None], "d": {}, "e": [], "f": (1, ("y",))},
    "integers": [0, -1, 2**63 - 1, -(2**63)],
    "large integers": [1, 2**63, 2**70],
    "floats": [1, 0.1, -0.0, 1e16, 5e-324],
    "every control character": "".join(map(chr, range(0x21))) + '"\\/\x7f',
    "other scripts": {"ü": "\u2028\u2029\ufeff\U0001f600"},
    "subclasses": OrderedDict(a=Status.USED, b=Name("n"), c=True),
    "subclasses inside": {"a": [Status.USED], "b": Name("n")},
    "keys that are no strings": {1: 1, None: 2, False: 3, 0.5: 4},
    "a scalar": "x",
    "null": None,
    "many levels": nested(200),
}


def test_a_body_is_what_json_writes() -> None:
    with (
        serving(lambda connection, _number: connection.sendall(http())) as server,
        da.Client(server.base_url, token="tok") as client,
    ):
        for name, body in BODIES.items():
            client.post("/access/api/other", body)
            expected = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            assert server.requests[-1].body.decode() == expected, name


def test_what_json_cannot_hold_is_refused_as_python_does() -> None:
    endless: list[Any] = [{"a": 1}]
    endless.append(endless)
    with da.Client("http://127.0.0.1:9", token="tok") as client:
        for body, error in ((endless, ValueError), ([1.0, float("nan")], ValueError), ({"a": {1, 2}}, TypeError)):
            with pytest.raises(error) as expected:
                json.dumps(body, allow_nan=False)
            with pytest.raises(error, match=f"^{re.escape(str(expected.value))}$"):
                client.post("/access/api/other", body)
        for lone in ({"a": "\ud800"}, {"\udfff": 1}):
            with pytest.raises(da.ValidationError, match=r"\bsurrogate\b", check=about("body")):
                client.post("/access/api/other", lone)
