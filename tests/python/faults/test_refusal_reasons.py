"""The reason of a refusal: the error keeps `data` and `codeMessage` of the envelope if they are strings."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from support.operations import DOWNLOAD, SEARCH
from support.raw_server import always, http, serving

import dataaccess as da

REASON = "attrs[1] is unknown"
DENIED = {"code": 301, "message": "Permission denied"}
CUSTOMER = "row-of-a-customer"


def refused(body: object, status: str, call: Any = SEARCH) -> da.ApiError:
    """The error of a call whose response this is, as it comes out of a pickle."""
    with serving(always(http(body, status))) as server:
        client = da.Client(server.base_url, token="tok-0123456789", retry_for=0)
        with pytest.raises(da.ApiError) as caught:
            call(client)
    again: da.ApiError = pickle.loads(pickle.dumps(caught.value))
    assert (again.data, again.code_message) == (caught.value.data, caught.value.code_message)
    assert str(again) == str(caught.value)
    return again


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "403 Forbidden", "429 Busy", "500 Broken"])
@pytest.mark.parametrize(
    ("data", "code_message", "kept"),
    [
        (REASON, "SCOPE", (REASON, "SCOPE")),
        # What is no string may have records.
        ({"status": False, "data": [{"id": CUSTOMER}]}, {"a": CUSTOMER}, (None, None)),
        ([CUSTOMER], 7, (None, None)),
        (None, None, (None, None)),
        ("é\n" * 300, "c" * 300, ("é\\n" * 66 + "é\\…", "c" * 200 + "…")),
        ("of tok-0123456789", "tok-0123456789", ("of <redacted>", "<redacted>")),
    ],
    ids=["strings", "objects", "lists", "null", "long", "token"],
)
def test_strings_are_kept_short_and_redacted(status: str, data: Any, code_message: Any, kept: Any) -> None:
    error = refused({**DENIED, "data": data, "codeMessage": code_message}, status)
    assert (error.data, error.code_message) == kept
    assert error.code == 301
    assert kept[0] is None or kept[0][:20] in str(error)
    assert CUSTOMER not in str(error)
    assert "tok-" not in str(error)


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request"])
@pytest.mark.parametrize("message", [{"message": REASON}, {}])
def test_a_reason_is_shown_once_with_and_without_a_message(status: str, message: dict[str, str]) -> None:
    error = refused({"code": 400, "data": REASON, **message}, status)
    assert error.data == REASON
    assert str(error).count(REASON) == 1


def test_a_refusal_without_an_envelope_has_no_reason() -> None:
    error = refused(b"<html>busy", "502 Bad Gateway")
    assert (error.data, error.code_message) == (None, None)


def test_each_operation_keeps_the_reason() -> None:
    for call in (DOWNLOAD, lambda client: client.post("/access/api/other", {})):
        assert refused({**DENIED, "data": REASON}, "403 Forbidden", call).data == REASON
