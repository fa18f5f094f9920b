"""What is sent, compared with the specification to the letter (sections 2.4, 4.1, 4.2, 4.3 and 5)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.raw_server import EXPORT, RESPONSE, always, http, in_turn, serving

import dataaccess as da

JANUARY_15 = 1705276800000


def code_condition(column: str, data_type: str, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": 2,
        "column": column,
        "data_type": data_type,
        "operator": "matches",
        "value": value,
        **more,
    }


def test_a_full_promotion_code_search(connect: Any) -> None:
    with serving(always(http())) as server:
        connect(server.base_url).search_codes(
            ["id"],
            allocated_time=da.after("2024-01-15"),
            code_status=["sent", 4],
            allocated_audience=["c-1", "c-2"],
            audience_type=["customer", -1007],
        )
        (request,) = server.requests
    assert request.path == "/access/api/item/search"
    assert request.json == {
        "itemTypeId": -100,
        "itemTypeName": "promotion_code",
        "attrs": ["id"],
        "filters": {
            "OR": [
                {
                    "AND": [
                        code_condition("audience_type", "number", [-1003, -1007], extendValue=[]),
                        code_condition("allocated_audience", "string", ["c-1", "c-2"], extendValue=[]),
                        code_condition("code_status", "number", [3, 4], extendValue=[]),
                        {
                            "type": 2,
                            "column": "allocated_time",
                            "data_type": "datetime",
                            "operator": "after_date",
                            "value": JANUARY_15 + 24 * 3_600_000 - 1,
                            "time_unit": "DAY",
                        },
                    ]
                }
            ]
        },
    }


def test_conditions_left_out_leave_no_gap(connect: Any) -> None:
    with serving(always(http())) as server:
        connect(server.base_url).search_codes(["id"], allocated_time=da.before("2024-01-15"))
        connect(server.base_url).search_codes(["id"], allocated_time=da.on("2024-01-15"), code_status=1)
        first, second = (request.json["filters"]["OR"][0]["AND"] for request in server.requests)
    assert [condition["operator"] for condition in first] == ["before_date"]
    assert [(condition["column"], condition["operator"]) for condition in second] == [
        ("code_status", "matches"),
        ("allocated_time", "equals"),
    ]


def test_operators_may_be_changed(connect: Any) -> None:
    with serving(always(http())) as server:
        connect(server.base_url).search_codes(
            ["id"],
            allocated_time=da.op("since", "2024-01-15", unit="HOUR"),
            code_status=da.op("not_matches", [4]),
        )
        status, time = server.requests[0].json["filters"]["OR"][0]["AND"]
    assert (status["operator"], status["value"]) == ("not_matches", [4])
    assert (time["operator"], time["value"], time["time_unit"]) == ("since", JANUARY_15, "HOUR")


def test_times_without_a_zone_are_read_in_the_clients(connect: Any) -> None:
    with serving(always(http())) as server:
        client = connect(server.base_url, timezone="Asia/Ho_Chi_Minh")
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        client.search_codes(["id"], allocated_time=da.after("2024-01-15T00:00:00Z"))
        naive, aware = (r.json["filters"]["OR"][0]["AND"][0]["value"] for r in server.requests)
    assert naive == JANUARY_15 - 7 * 3_600_000
    # The 15th is that day in Vietnam too, and ends there at 17:00 UTC.
    assert aware == JANUARY_15 + 17 * 3_600_000 - 1


def test_a_generic_search(connect: Any) -> None:
    where = da.col("customer_id").matches(["17"]) & (da.col("age").equals(42) | da.col("joined").before("2024-01-15"))
    with serving(always(http())) as server:
        connect(server.base_url).search_items("customer", ["id"], where)
        (request,) = server.requests

    def condition(column: str, data_type: str, operator: str, value: Any) -> dict[str, Any]:
        shape = {"column": column, "data_type": data_type, "operator": operator, "value": value}
        return {**shape, "value_type": "normal", "condition_type": "comp_attr"}

    who = condition("customer_id", "string", "matches", ["17"])
    assert request.path == "/access/api/item/search"
    assert request.json == {
        "itemTypeId": -1003,
        "itemTypeName": "customer",
        "attrs": ["id"],
        "filters": {
            "OR": [
                {"AND": [who, condition("age", "number", "equals", [42])]},
                {
                    "AND": [
                        who,
                        {
                            **condition("joined", "datetime", "before_date", JANUARY_15),
                            "time_unit": "DAY",
                        },
                    ]
                },
            ]
        },
    }


def test_a_download(connect: Any) -> None:
    with serving(always(http(EXPORT))) as server:
        connect(server.base_url).download_segment(5637051)
        (request,) = server.requests
    assert request.path == "/access/api/segment/download"
    assert request.json == {"scope": "download", "exportId": 5637051}


@pytest.mark.both_clients
def test_validation_gives_the_very_body_that_is_sent(connect: Any) -> None:
    search: dict[str, Any] = {
        "attrs": ["id"],
        "allocated_time": da.after("2024-01-15"),
        "code_status": "used",
    }
    where = da.col("name").equals("x")
    with serving(always(http())) as server:
        client = connect(server.base_url, timezone="America/New_York")
        client.search_codes(**search)
        client.search_items("customer", ["id"], where)
        sent = [request.json for request in server.requests]
    assert sent == [
        client.validate_codes(**search),
        client.validate_items("customer", ["id"], where),
    ]
    assert da.validate_codes(**search) != sent[0], "without a client times are read in UTC"


def test_headers_name_the_client_and_the_accepted_encodings(connect: Any) -> None:
    with serving(always(http())) as server:
        client = connect(server.base_url, token="tok-1", headers={"X-Tenant": "acme"})
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        first, second = (request.headers for request in server.requests)
        assert server.connections == 1, "the second call uses the first one's connection"
    assert first["authorization"] == "Bearer tok-1"
    assert first["content-type"] == "application/json"
    assert first["accept-encoding"] == "gzip, zstd"
    assert first["user-agent"] == f"dataaccess/{da.__version__}"
    assert first["x-tenant"] == "acme"
    assert re.fullmatch(r"[0-9a-f]{16}-1", first["x-request-id"])
    assert first["x-request-id"] != second["x-request-id"]


def test_a_user_may_ask_for_less_compression(connect: Any) -> None:
    with serving(always(http())) as server:
        for asked in ("identity", "zstd", "Identity , GZIP"):
            client = connect(server.base_url, headers={"accept-encoding": asked})
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        seen = [request.headers["accept-encoding"] for request in server.requests]
    assert seen == ["identity", "zstd", "gzip"]


def test_a_base_url_may_have_a_path(connect: Any) -> None:
    with serving(always(http())) as server:
        connect(f"{server.base_url}/cdp/v1/").search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert server.requests[0].path == "/cdp/v1/access/api/item/search"


def test_the_way_out_sends_what_it_is_given(connect: Any) -> None:
    response = {"code": 200, "message": "ok", "data": {"b": [1.5, None], "a": 18446744073709551616}}
    with serving(always(http(response))) as server:
        result = connect(server.base_url).post("/access/api/other", {"x": ["ü", 2**70, None]})
        (request,) = server.requests
    assert request.path == "/access/api/other"
    assert request.json == {"x": ["ü", 2**70, None]}
    assert result == response
    assert list(result["data"]) == ["b", "a"]


def test_post_returns_responses_of_any_size(connect: Any) -> None:
    text = "x" * (20 << 20)
    with serving(always(http({"code": 200, "message": "", "data": {"data": [text]}}))) as server:
        assert connect(server.base_url).post("/access/api/other", {})["data"]["data"] == [text]


def test_rows_keep_every_value_as_it_is_on_the_wire(connect: Any) -> None:
    records = (
        b'[{"id":18446744073709551616,"n":1.0,"t":"\\u00e9\\n","x":{"a":[1,{"b":null}]}},'
        b'{"n":-0.1e-7,"id":9007199254740993,"extra":true}]'
    )
    body = b'{"data":{"data":' + records + b',"status":true},"message":"m","code":200}'
    with serving(in_turn(http(body))) as server:
        rows = connect(server.base_url).search_items(
            "voucher", ["id", "t", "n"], da.col("id").equals(1), item_type_id=5
        )
    assert rows == [
        {"id": 18446744073709551616, "t": "é\n", "n": 1.0, "x": {"a": [1, {"b": None}]}},
        {"id": 9007199254740993, "t": None, "n": -0.1e-7, "extra": True},
    ]
    assert [list(row) for row in rows] == [["id", "t", "n", "x"], ["id", "t", "n", "extra"]]
    assert type(rows[0]["n"]) is float


def test_an_attribute_no_record_has_is_reported(connect: Any) -> None:
    with serving(always(http(RESPONSE))) as server:
        client = connect(server.base_url)
        with pytest.warns(da.AbsentAttributeWarning, match="'nmae'"):
            rows = client.search_items("customer", ["id", "nmae"], da.col("id").equals("x"))
    assert rows == [{"id": "a", "nmae": None}, {"id": "b", "nmae": None}]
