"""A probe survives responses of unexpected shapes: only the points that depend on them stay open."""

from __future__ import annotations

import json
import re
import socket
import tomllib
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from support.open_points import TABLE
from support.raw_server import RawServer, Received, always, http, read_request, serving

import dataaccess as da
from dataaccess._probe.findings import ProbeReport
from dataaccess._probe.probe import MOST_REQUESTS, probe

pytestmark = pytest.mark.usefixtures("short_pauses")

DAY = date(2024, 1, 15)
CODE: dict[str, Any] = {
    "id": "a",
    "name": "a",
    "pool_id": 1,
    "date_created": "2024-01-01 00:00:00",
    "allocated_time": "2024-01-15 12:00:00",
    "allocated_audience": "c-1",
    "audience_type": -1003,
    "code_status": 4,
    "last_used_source": "till",
    "last_used_time": "2024-01-16 00:00:00",
    "channel_id": 3,
}
ENDED: dict[str, Any] = {
    "exportStatus": 2,
    "exportedRows": 1,
    "startTime": "2024-01-15T08:00:00.000Z",
    "endTime": "2024-01-15T08:01:00.000Z",
    "durations": 60000,
    "responseCode": 200,
    "responseMessage": "OK",
}


def search(rows: object) -> dict[str, Any]:
    return {"code": 200, "message": "Search Business Object success", "data": {"status": True, "data": rows}}


def export(entries: object) -> dict[str, Any]:
    total = len(entries) if isinstance(entries, list) else 0
    data = {"entries": entries, "meta": {"total": total}}
    return {"code": 200, "message": "Success", "data": data, "codeMessage": None, "duration": "1ms"}


def probed(body_of: Callable[[Received], object], export_id: int | None = 1) -> ProbeReport:
    """A probe of a server that responds with these bodies."""

    def respond(connection: socket.socket, number: int) -> None:
        connection.sendall(http(body_of(server.requests[number])))

    server: RawServer
    with serving(respond) as server:
        report = probe(da.Client(server.base_url, token="t"), DAY, export_id=export_id)
    assert {each.name for each in report.findings} == set(TABLE)
    assert len(report.findings) == len(TABLE)
    assert report.requests <= MOST_REQUESTS
    tomllib.loads(report.to_toml())
    json.dumps(report.to_dict())
    return report


def values(report: ProbeReport) -> dict[str, Any]:
    """What was found of the points that were settled."""
    return {each.name: each.value for each in [*report.findings, *report.of_settings] if each.value is not None}


def details(report: ProbeReport) -> dict[str, str]:
    """What was seen of the points that were not settled."""
    return {each.name: each.detail for each in [*report.findings, *report.of_settings] if each.value is None}


SHAPES: list[object] = [
    {"code": 200, "message": "", "data": "a string"},
    {"code": 200, "message": "", "data": None},
    {"code": 200, "message": "", "data": []},
    {"code": 200, "message": ""},
    {"code": 200, "message": "", "data": {"status": True, "data": "rows"}},
    {"code": 200, "message": "", "data": {"status": True, "data": [1, None]}},
    {"code": 200, "message": "", "data": {"status": False, "data": []}},
    {"code": 200, "message": "", "data": {"entries": {}, "meta": {}}},
    export([7]),
    {},
    [],
    "text",
    None,
    {"code": "200", "data": {}},
]


@pytest.mark.parametrize("body", SHAPES, ids=lambda body: json.dumps(body)[:40])
def test_a_service_of_one_unexpected_shape_ends_no_probe(body: object) -> None:
    report = probed(lambda _request: body)
    assert not values(report).keys() & {"day_zone", "day_comparison", "finished_status", "finished_types", "row_order"}
    assert not set(report.settings) & {"timezone", "source_timezone", "day_comparison", "known_row_cap"}


def test_a_service_that_fails_ends_no_probe(time_scale: Callable[[int], None]) -> None:
    time_scale(100)
    report = probed(lambda _request: {"code": 500, "message": "no", "data": None})
    assert not values(report)


def test_an_unexpected_search_leaves_the_points_of_exports_alone() -> None:
    strange = {"code": 200, "message": "", "data": "a string"}

    report = probed(lambda request: export([ENDED]) if "segment" in request.path else strange)

    assert report.switches["finished_status"] == 2
    assert values(report)["finished_types"] == "number"
    for name in ("day_zone", "row_order", "last_used_type", "day_comparison", "empty_shape", "operators"):
        assert re.search(r"\bdata\b", details(report)[name])
    assert re.search(r"\bdata\b.* string\b", details(report)["empty_shape"])


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        ({key: value for key, value in ENDED.items() if key != "endTime"}, "endTime"),
        ({key: value for key, value in ENDED.items() if key != "responseCode"}, "responseCode"),
        ("entry", " string"),
    ],
)
def test_an_unexpected_entry_leaves_the_points_of_searches_alone(entry: object, seen: str) -> None:
    report = probed(lambda request: export([entry]) if "segment" in request.path else search([CODE]))

    for name in ("finished_status", "failed_status", "finished_types", "failed_code"):
        assert seen in details(report)[name]
    assert values(report)["last_used_type"] == "string"
    assert values(report)["key_order"] == "code_first"


@pytest.mark.parametrize(
    ("member", "value", "points"),
    [
        ("exportStatus", "done", {"finished_status"}),
        ("exportStatus", None, {"finished_status"}),
        ("durations", "60000ms", {"finished_types"}),
        ("responseMessage", {"text": "OK"}, {"finished_types"}),
    ],
)
def test_a_member_of_an_unexpected_type_leaves_only_its_points_open(
    member: str, value: object, points: set[str]
) -> None:
    entry = {**ENDED, member: value}
    report = probed(lambda request: export([entry]) if "segment" in request.path else search([CODE]))

    named = {"finished_status", "finished_types"}
    assert named - values(report).keys() == points
    for name in points:
        assert member in details(report)[name]


def of_the_day(rows: list[dict[str, Any]]) -> Callable[[Received], object]:
    """A service that cuts its days in UTC and compares as the specification suggests; `rows` are of the day."""

    def respond(request: Received) -> object:
        if "segment" in request.path:
            return export([ENDED])
        time = request.json["filters"]["OR"][0]["AND"][-1]
        sent = time["value"] if time.get("data_type") == "datetime" else 0
        is_of_day = datetime.fromtimestamp(sent / 1_000, UTC).date() == DAY
        return search(rows if is_of_day and time["operator"] == "equals" else [])

    return respond


@pytest.mark.parametrize(
    ("member", "value", "points"),
    [
        ("allocated_time", None, {"source_timezone"}),
        ("allocated_time", 1705320000000, {"source_timezone"}),
        ("allocated_time", "15.1.2024", {"source_timezone"}),
        ("last_used_source", 7, {"last_used_type"}),
        ("last_used_time", [1], {"last_used_type"}),
        ("channel_id", {}, {"channel_id_type"}),
        ("audience_type", 5, {"day_comparison"}),
        ("allocated_audience", 5, {"day_comparison"}),
    ],
)
def test_a_value_of_an_unexpected_type_leaves_only_its_point_open(member: str, value: object, points: set[str]) -> None:
    times = ["2024-01-15 00:00:00", "2024-01-15 23:59:59"]
    rows = [{**CODE, "id": f"a{number:02}", "allocated_time": times[number % 2], member: value} for number in range(20)]
    report = probed(of_the_day(rows))

    named = {"day_zone", "source_timezone", "row_order", "last_used_type", "channel_id_type", "day_comparison"}
    assert named - values(report).keys() == points
    for name in points:
        assert member in details(report)[name]


def test_facts_that_no_switch_chooses_are_found_too() -> None:
    used = {"last_used_source": {"value": "till"}, "last_used_time": {"value": "2024-01-16"}, "channel_id": "3"}
    rows = [{**CODE, **used, "id": f"a{number * 7 % 20}"} for number in range(20)]
    ended = {**ENDED, "durations": "60000ms", "responseCode": "200"}

    def respond(request: Received) -> object:
        body = export([ended]) if "segment" in request.path else of_the_day(rows)(request)
        return dict(reversed(body.items())) if isinstance(body, dict) else body

    report = probed(respond)
    types = {"last_used_type": "object", "channel_id_type": "string", "finished_types": "string"}
    assert {name: report.switches[name] for name in types} == types
    assert values(report)["key_order"] == "code_last"
    assert "key_order" not in report.switches
    assert " 20 " in details(report)["row_order"]


def test_a_service_that_finds_the_same_codes_for_each_instant_cuts_no_days() -> None:
    report = probed(lambda _request: search([CODE]))
    for name in ("day_zone", "source_timezone", "day_comparison"):
        assert " 25 " in details(report)[name]


def test_one_of_the_attributes_of_use_is_enough() -> None:
    report = probed(lambda _request: search([{**CODE, "last_used_time": None}]))
    assert values(report)["last_used_type"] == "string"


def test_a_status_that_is_no_refusal_settles_nothing() -> None:
    def respond(connection: socket.socket, number: int) -> None:
        body = server.requests[number].json
        is_plain = "no_such_value" not in json.dumps(body) and isinstance(body.get("attrs"), list)
        failure = http({"code": 501, "message": "", "data": None}, "501 Not Implemented")
        connection.sendall(http(search([])) if is_plain else failure)

    server: RawServer
    with serving(respond) as server:
        report = probe(da.Client(server.base_url, token="t"), DAY)
    for name in ("operators", "value_types", "attrs_format", "malformed_request", "unknown_export"):
        assert name in details(report), name
    assert "HTTP 501" in details(report)["operators"]


def test_a_refusal_of_another_server_is_no_envelope() -> None:
    page = http(b"<html>not here</html>", "404 Not Found", content_type="text/html")

    def respond(connection: socket.socket, number: int) -> None:
        request = server.requests[number]
        is_plain = "no_such_value" not in request.body.decode() and "segment" not in request.path
        connection.sendall(http(search([])) if is_plain else page)

    server: RawServer
    with serving(respond) as server:
        report = probe(da.Client(server.base_url, token="t"), DAY, export_id=1)
    for name in ("malformed_request", "unknown_export", "refusal_data"):
        assert "envelope" in details(report)[name]


def test_a_large_response_to_a_search_that_should_find_little_is_not_read_to_its_end() -> None:
    rows = [{"id": "a" * 1_000_000} for _ in range(20)]

    def respond(request: Received) -> object:
        filters = request.json.get("filters", {"OR": [{"AND": [{}]}]})
        return search(rows if filters["OR"][0]["AND"][-1].get("operator") == "no_such_value" else [])

    report = probed(respond, export_id=None)
    assert "16 MiB" in details(report)["operators"]
    assert values(report)["key_order"] == "code_first"


def test_a_refused_token_ends_the_probe_at_once() -> None:
    body = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}
    with serving(always(http(body, "403 Forbidden"))) as server:
        with pytest.raises(da.PermissionDeniedError):
            probe(da.Client(server.base_url, token="t"), DAY)
        assert len(server.requests) == 1


def test_a_connection_that_fails_ends_the_probe_at_once() -> None:
    def respond(connection: socket.socket, number: int) -> None:
        if number == 0:
            connection.sendall(http(search([])))
            read_request(connection)
        connection.close()

    with serving(respond) as server, pytest.raises(da.TransportError):
        probe(da.Client(server.base_url, token="t"), DAY)


def test_data_that_a_long_refusal_may_have_is_not_absent() -> None:
    def respond(connection: socket.socket, number: int) -> None:
        is_plain = "no_such_value" not in server.requests[number].body.decode()
        refused = http({"code": 400, "message": "long " * 60, "data": None}, "400 Bad Request")
        connection.sendall(http(search([])) if is_plain else refused)

    server: RawServer
    with serving(respond) as server:
        report = probe(da.Client(server.base_url, token="t"), DAY)
    assert "refusal_data" in details(report)
    assert report.switches["malformed_request"] == "status"


def test_an_unknown_export_that_is_refused_as_a_permission_leaves_the_named_one_alone() -> None:
    denied = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}

    def respond(request: Received) -> object:
        if "segment" not in request.path:
            return search([CODE])
        return export([ENDED]) if request.json["exportId"] == 1 else denied

    report = probed(respond)
    assert report.switches["finished_status"] == 2
    assert "scope" in details(report)["unknown_export"]
    assert " not " not in details(report)["download_scope"]
    assert " not " in details(probed(respond, export_id=2))["download_scope"]
