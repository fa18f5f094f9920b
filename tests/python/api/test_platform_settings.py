"""What a platform does is a setting of the client: a call may say otherwise, and profiles have it too."""

from __future__ import annotations

from typing import Any

import pytest
from support.profiles import Config
from support.raw_server import ENTRY, EXPORT, always, http, serving

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]
SERVICE: dict[str, Any] = {"base_url": "https://cdp.example.com", "token": "tok"}
WHO = da.col("customer_id").equals("demo-customer-0001")
DAY = da.on("2024-01-15")


@pytest.fixture
def text_platform() -> Any:
    """A platform that takes attributes as one string alone."""
    with da.Sandbox.demo(until="2024-02-29", switches={"attrs_format": "string"}) as sandbox:
        yield sandbox


def test_the_format_of_attributes_is_a_setting(connect: Any, text_platform: da.Sandbox) -> None:
    client = connect(text_platform, attrs_format="string")
    assert client.search_items("customer", ["customer_id", "name"], WHO)
    assert client.scan_items("customer", ["customer_id", "name"], WHO).to_dicts()
    assert client.validate_items("customer", ["customer_id", "name"], WHO)["attrs"] == "customer_id,name"
    with pytest.raises(da.RequestRejectedError):
        client.search_items("customer", ["customer_id"], WHO, attrs_format="array")
    with pytest.raises(da.RequestRejectedError):
        connect(text_platform).search_items("customer", ["customer_id"], WHO)


def test_promotion_codes_take_an_array_whatever_the_format_of_the_client(connect: Any, sandbox: da.Sandbox) -> None:
    client = connect(sandbox, attrs_format="string", item_types={"code": -100})
    where = da.col("allocated_time").on("2024-01-15")
    assert client.search_codes(["id"], allocated_time=DAY)
    for call in (client.validate_items, client.search_items, lambda *given: client.scan_items(*given).to_dicts()):
        assert call("promotion_code", ["id"], where)
    with pytest.raises(da.ValidationError, match="takes attrs as an array"):
        client.search_items("promotion_code", ["id"], where, attrs_format="string")


SEARCHES: dict[str, Any] = {
    "search_codes": lambda client, **cap: client.search_codes(["id"], allocated_time=DAY, **cap),
    "search_items": lambda client, **cap: client.search_items(
        "promotion_code", ["id"], da.col("allocated_time").on("2024-01-15"), **cap
    ),
    "scan_codes": lambda client, **cap: client.scan_codes(["id"], allocated_time=DAY, **cap).collect(),
    "scan_items": lambda client, **cap: client.scan_items(
        "promotion_code", ["id"], da.col("allocated_time").on("2024-01-15"), **cap
    ).to_dicts(),
    "task": lambda client, **cap: client.scan_codes(["id"], allocated_time=DAY, **cap).tasks()[0].to_dicts(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_known_cap_is_a_setting(connect: Any, sandbox: da.Sandbox, name: str) -> None:
    client = connect(sandbox, known_row_cap=73)
    with pytest.warns(da.IncompleteWarning, match="exactly the 73 rows of known_row_cap") as caught:
        SEARCHES[name](client)
    assert len(caught) == 1
    SEARCHES[name](client, known_row_cap=74)


def ended(*codes: Any) -> dict[str, Any]:
    """An export whose entries have ended with these codes."""
    entries = [{**ENTRY, "endTime": "2024-01-15T08:05:00.000Z", "responseCode": code} for code in codes]
    return {**EXPORT, "data": {"entries": entries, "meta": {"total": len(entries)}}}


@pytest.mark.parametrize(
    ("success", "codes"),
    [
        ((200,), [200, "200", 200.0, "200.0", None]),
        (0, [0, "0", 0.0]),
        ("SUCCESS", ["SUCCESS"]),
        ((200, "201"), [200, 201, "201"]),
    ],
)
def test_the_codes_of_success_are_a_setting(connect: Any, success: Any, codes: list[Any]) -> None:
    with serving(always(http(ended(*codes)))) as server:
        client = connect(server.base_url, export_success_codes=success)
        status = client.wait_for_segment(7, timeout=20)
        assert str(status).splitlines()[0] == str(client.download_segment(7)).splitlines()[0]
    count = len(codes)
    assert str(status).startswith(f"{count} {'entry' if count == 1 else 'entries'}: {count} finished")
    assert "failed" not in status._repr_html_()


@pytest.mark.parametrize(
    ("success", "code"), [(0, 200), ("SUCCESS", "success"), ((200, 201), 202), ((0,), False), ((1,), True)]
)
def test_another_code_is_a_failure_and_ends_the_wait(connect: Any, success: Any, code: Any) -> None:
    export = ended(code, None)
    export["data"]["entries"][1]["endTime"] = None
    with serving(always(http(export))) as server:
        client = connect(server.base_url, export_success_codes=success)
        with pytest.raises(da.SegmentExportError, match=r"1 of 2 entries.*export_success_codes of the client"):
            client.wait_for_segment(7, timeout=20)
        assert len(server.requests) == 1
        status = client.download_segment(7)
    assert str(status).startswith("2 entries: 1 running, 1 failed")


def test_progress_counts_by_the_codes_of_the_client(connect: Any) -> None:
    seen: list[da.reports.Progress] = []
    with serving(always(http(ended(0, 200)))) as server:
        client = connect(server.base_url, export_success_codes=0)
        client.wait_for_segment(7, timeout=20, check=False, progress=seen.append)
    assert [(one.done, one.failed) for one in seen] == [(2, 1)]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_profile_has_them_too(kind: Any, config: Config) -> None:
    config.write(
        '[profiles.p]\nbase_url = "https://cdp.example.com"\ntoken = "t"\nattrs_format = "string"\n'
        'known_row_cap = 10_000\nexport_success_codes = [0, "OK"]\n'
        '[profiles.texts]\nbase_url = "https://cdp.example.com"\ntoken = "t"\n'
        'known_row_cap = "10000"\nexport_success_codes = "0, OK"\n'
    )
    client = kind(profile="p")
    assert {name: client.settings[name].value for name in ("attrs_format", "known_row_cap")} == {
        "attrs_format": "string",
        "known_row_cap": 10_000,
    }
    assert client.settings["export_success_codes"].value == (0, "OK")
    assert client.settings["attrs_format"].source.startswith("profile p in ")
    assert kind(profile="texts").settings["known_row_cap"].value == 10_000
    assert kind(profile="texts").settings["export_success_codes"].value == ("0", "OK")
    assert kind(profile="p", known_row_cap=None).settings["known_row_cap"].value is None


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"attrs_format": "csv"}, """attrs_format must be "array" or "string", not 'csv'"""),
        ({"attrs_format": None}, 'attrs_format must be "array" or "string", not None'),
        ({"known_row_cap": 0}, "known_row_cap must be an integer of at least 1, or None, not 0"),
        ({"known_row_cap": "many"}, "known_row_cap must be an integer of at least 1, or None, not 'many'"),
        ({"export_success_codes": ()}, "export_success_codes must be integers or strings, such as (200, 201), not ()"),
        ({"export_success_codes": True}, "export_success_codes must be integers or strings, such as (200, 201)"),
        ({"export_success_codes": [200, None]}, "export_success_codes must be integers or strings"),
        ({"export_success_codes": None}, "export_success_codes must be integers or strings"),
    ],
)
def test_a_wrong_one_is_refused_by_name(kind: Any, given: dict[str, Any], message: str) -> None:
    makers: list[Any] = [lambda: kind(**SERVICE, **given), lambda: kind(**SERVICE).with_options(**given)]
    for make in makers:
        with pytest.raises(da.ConfigError) as caught:
            make()
        assert str(caught.value).startswith(message)
