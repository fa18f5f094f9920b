"""A time in seconds is refused by the sandbox, and not read as a day of 1970; a switch makes it find nothing.

Source: API specification 2.4: "the magnitude indicates milliseconds".
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

PATH = "/access/api/item/search"


def in_seconds() -> dict[str, Any]:
    body = da.validate_codes(["id"], allocated_time=da.on("2024-01-15"))
    body["filters"]["OR"][0]["AND"][0]["value"] //= 1_000
    return body


def test_refused_by_default() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox, pytest.raises(da.RequestRejectedError, match="milliseconds"):
        sandbox.client().post(PATH, in_seconds())


def test_the_switch_finds_nothing() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"seconds": "unmatched"}) as sandbox:
        assert sandbox.client().post(PATH, in_seconds())["data"]["data"] == []
