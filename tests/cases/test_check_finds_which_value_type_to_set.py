"""`check` says whether conditions of promotion codes need `value_type`, and goes on with the right form.

Source: API specification 2.4 and 4.1, which contradict each other.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import RESPONSE, serving
from support.raw_server import http as response

import dataaccess as da


@pytest.mark.parametrize(
    ("switch", "setting", "is_ok"),
    [
        ("required", None, False),
        ("required", "normal", True),
        ("refused", "normal", False),
        ("refused", None, True),
        ("optional", None, True),
    ],
)
def test_what_to_set(switch: str, setting: Any, is_ok: bool) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"value_type": switch}) as sandbox:
        check = sandbox.client(code_value_type=setting).check("2024-01-15")
    assert check.is_ok == is_ok
    assert ("code_value_type" in check.errors) == (not is_ok)
    assert check.answers["code_value_type"].is_right == is_ok
    assert check.scopes["item"]
    assert check.answers["timezone"].is_right
    assert check.answers["day_comparison"].is_right


def test_a_service_that_finds_nothing_without_it() -> None:
    empty = {**RESPONSE, "data": {"status": True, "data": []}}
    found = {**RESPONSE, "data": {"status": True, "data": [{"id": "a", "allocated_time": "2024-01-15 10:00:00"}]}}

    def respond(connection: Any, _number: int) -> None:
        has_form = b'"value_type":"normal"' in server.requests[-1].body
        connection.sendall(response(found if has_form else empty))

    with serving(respond) as server:
        check = da.Client(server.base_url, token="t", timezone="UTC").check("2024-01-15")
    assert "code_value_type" in check.errors
    assert not check.is_ok


def test_a_refused_form_does_not_hide_that_a_day_has_no_rows() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"value_type": "refused"}) as sandbox:
        check = sandbox.client().check("2023-06-01")
    assert check.errors == {}
    assert check.is_ok
    assert "2023-06-01" in str(check.answers["timezone"].detail)
