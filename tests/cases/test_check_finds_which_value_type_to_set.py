"""`check` says whether conditions of promotion codes need `value_type`, and goes on with the right form.

Source: API specification 2.4 and 4.1, which contradict each other.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import serving
from support.streams import client_of, response_of

import dataaccess as da


@pytest.mark.parametrize(
    ("switch", "setting", "day", "is_ok"),
    [
        ("required", None, "2024-01-15", False),
        ("required", "normal", "2024-01-15", True),
        ("refused", "normal", "2024-01-15", False),
        ("refused", None, "2024-01-15", True),
        ("optional", None, "2024-01-15", True),
        # A day without rows.
        ("refused", None, "2023-06-01", True),
    ],
)
def test_what_to_set(switch: str, setting: Any, day: str, is_ok: bool) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"value_type": switch}) as sandbox:
        check = sandbox.client(code_value_type=setting).check(day)
    assert check.is_ok == is_ok
    assert ("code_value_type" in check.errors) == (not is_ok)
    assert check.answers["code_value_type"].is_right in (is_ok, None)
    assert check.scopes["item"]
    if day == "2024-01-15":
        assert check.answers["code_value_type"].is_right == is_ok
        assert check.answers["timezone"].is_right
        assert check.answers["day_comparison"].is_right


def test_a_service_that_finds_nothing_without_it() -> None:
    def respond(connection: Any, _number: int) -> None:
        has_form = b'"value_type":"normal"' in server.requests[-1].body
        connection.sendall(response_of([{"id": "a", "allocated_time": "2024-01-15 10:00:00"}] * has_form))

    with serving(respond) as server:
        check = client_of(server, timezone="UTC").check("2024-01-15")
    assert "code_value_type" in check.errors
    assert not check.is_ok
