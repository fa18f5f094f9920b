"""The reason of a refusal: the exception keeps `data` and `codeMessage` of the envelope, its message says `data`."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

REASON = "You don't have permission to access this request!"
DENIED = {"code": 301, "message": "Permission denied", "data": REASON}


def refused(body: object, status: str) -> da.ApiError:
    """The error of a search whose response this is, after a journey through pickle."""
    with serving(always(http(body, status))) as server:
        client = da.Client(server.base_url, token="tok-0123456789", retry_for=0)
        with pytest.raises(da.ApiError) as caught:
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    again: da.ApiError = pickle.loads(pickle.dumps(caught.value))
    assert (again.data, again.code_message, str(again)) == (
        caught.value.data,
        caught.value.code_message,
        str(caught.value),
    )
    return again


@pytest.mark.parametrize("status", ["403 Forbidden", "200 OK"])
def test_the_reason_of_a_permission_failure_is_kept_and_shown(status: str) -> None:
    error = refused({**DENIED, "codeMessage": "SCOPE_MISSING"}, status)
    assert isinstance(error, da.PermissionDeniedError)
    assert (error.data, error.code_message) == (REASON, "SCOPE_MISSING")
    assert f"{DENIED['message']}: {REASON};" in str(error)


@pytest.mark.parametrize("status", ["400 Bad Request", "200 OK", "500 Server Error", "429 Busy"])
def test_the_reason_of_any_other_refusal_is_kept_and_shown(status: str) -> None:
    body = {"code": 417, "message": "not accepted", "data": "attrs[1] is unknown", "codeMessage": "ATTRS"}
    error = refused(body, status)
    assert (error.code, error.data, error.code_message) == (417, "attrs[1] is unknown", "ATTRS")
    assert f"{body['message']}: {body['data']}" in str(error)


@pytest.mark.parametrize("status", ["400 Bad Request", "200 OK"])
def test_a_reason_that_repeats_the_message_is_shown_once(status: str) -> None:
    error = refused({"code": 400, "message": "attrs: no attribute", "data": "attrs: no attribute"}, status)
    assert error.data == "attrs: no attribute"
    assert str(error).count("attrs: no attribute") == 1


@pytest.mark.parametrize("status", ["400 Bad Request", "200 OK"])
def test_a_reason_without_a_message_is_shown(status: str) -> None:
    error = refused({"code": 400, "data": "attrs: no attribute"}, status)
    assert error.data == "attrs: no attribute"
    assert str(error).endswith(": attrs: no attribute")


@pytest.mark.parametrize("status", ["403 Forbidden", "400 Bad Request", "200 OK"])
@pytest.mark.parametrize(
    "data", [{"status": False, "data": [{"id": "row-of-a-customer"}]}, ["row-of-a-customer"], None, 7]
)
def test_data_that_is_no_string_may_have_records_and_is_not_kept(status: str, data: object) -> None:
    error = refused({"code": 301, "message": "no", "data": data, "codeMessage": {"a": 1}}, status)
    assert (error.data, error.code_message) == (None, None)
    assert "row-of-a-customer" not in str(error)


@pytest.mark.parametrize("status", ["403 Forbidden", "200 OK"])
def test_a_long_reason_is_shortened(status: str) -> None:
    error = refused({"code": 301, "message": "no", "data": "é\n" * 300, "codeMessage": "c" * 300}, status)
    assert error.data == "é\\n" * 66 + "é\\…"
    assert error.code_message == "c" * 200 + "…"


@pytest.mark.parametrize("status", ["403 Forbidden", "200 OK"])
def test_a_token_in_the_reason_is_redacted(status: str) -> None:
    error = refused(
        {"code": 301, "message": "no", "data": "of tok-0123456789", "codeMessage": "tok-0123456789"}, status
    )
    assert (error.data, error.code_message) == ("of <redacted>", "<redacted>")
    assert "tok-" not in str(error)


def test_a_refusal_without_an_envelope_has_no_reason() -> None:
    error = refused(b"<html>busy", "502 Bad Gateway")
    assert (error.data, error.code_message) == (None, None)


def test_the_reason_of_a_refused_download_is_kept() -> None:
    with serving(always(http(DENIED, "403 Forbidden"))) as server, pytest.raises(da.PermissionDeniedError) as caught:
        da.Client(server.base_url, token="tok-0123456789").download_segment(1)
    assert caught.value.data == REASON


def test_the_reason_is_for_the_caller_of_post_too() -> None:
    body: dict[str, Any] = {"code": 500, "message": "failed", "data": "try later"}
    with serving(always(http(json.dumps(body).encode()))) as server, pytest.raises(da.ServerError) as caught:
        da.Client(server.base_url, token="t", retry_for=0).post("/access/api/other", {})
    assert caught.value.data == "try later"
