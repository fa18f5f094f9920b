"""What a platform does is a setting of the client: a call may say otherwise, and profiles have it too."""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, always, http, serving

import dataaccess as da

DAY = da.on("2024-01-15")


SEARCHES: dict[str, Any] = {
    "search_codes": lambda client: client.search_codes(["id"], allocated_time=DAY),
    "search_items": lambda client: client.search_items(
        "promotion_code", ["id"], da.col("allocated_time").on("2024-01-15")
    ),
    "scan_codes": lambda client: client.scan_codes(["id"], allocated_time=DAY).collect(),
    "scan_items": lambda client: client.scan_items(
        "promotion_code", ["id"], da.col("allocated_time").on("2024-01-15")
    ).to_dicts(),
    "task": lambda client: client.scan_codes(["id"], allocated_time=DAY).tasks()[0].to_dicts(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_known_cap_is_a_setting(connect: Any, sandbox: da.Sandbox, name: str) -> None:
    client = connect(sandbox, known_row_cap=73)
    with pytest.warns(da.IncompleteWarning, match=r"\b73 .*\bknown_row_cap\b") as caught:
        SEARCHES[name](client)
    assert len(caught) == 1
    SEARCHES[name](client.with_options(known_row_cap=74))


def ended(*codes: Any) -> dict[str, Any]:
    """An export whose entries have ended with these codes."""
    entries = [{**ENTRY, "endTime": "2024-01-15T08:05:00.000Z", "responseCode": code} for code in codes]
    return {**EXPORT, "data": {"entries": entries, "meta": {"total": len(entries)}}}


@pytest.mark.parametrize(
    ("success", "codes"),
    [
        ((200,), [200, "200", 200.0, "200.0", None]),
        ([0], [0, "0", 0.0]),
        ({"SUCCESS"}, ["SUCCESS"]),
        ((200, "201"), [200, 201, "201"]),
    ],
)
def test_an_export_that_ends_with_codes_of_success_succeeded(connect: Any, success: Any, codes: list[Any]) -> None:
    with serving(always(http(ended(*codes)))) as server:
        status = connect(server.base_url).wait_for_segment(7, timeout=20, success_codes=success)
    assert status.is_finished
    count = len(codes)
    assert str(status).startswith(f"{count} {'entry' if count == 1 else 'entries'}: {count} finished")
    assert "failed" not in status._repr_html_()


@pytest.mark.parametrize(
    ("success", "code"), [((0,), 200), (["SUCCESS"], "success"), ((200, 201), 202), ((0,), False), ((1,), True)]
)
def test_another_code_is_a_failure_and_ends_the_wait(connect: Any, success: Any, code: Any) -> None:
    export = ended(code, None)
    export["data"]["entries"][1]["endTime"] = None
    with serving(always(http(export))) as server:
        updates: list[Any] = []
        with pytest.raises(da.SegmentExportError) as caught:
            connect(server.base_url).wait_for_segment(7, timeout=20, success_codes=success, on_update=updates.append)
        assert len(server.requests) == 1
    assert "success_codes" in str(caught.value.hint)
    (status,) = updates
    assert not status.is_finished
    assert str(status).startswith("2 entries: 1 running, 1 failed")


@pytest.mark.parametrize("codes", [(), True, [200, None], None, "200", 200, [True], [""]], ids=repr)
def test_codes_of_success_are_integers_or_strings(client: Any, codes: Any) -> None:
    with pytest.raises(da.ValidationError) as caught:
        client.wait_for_segment(1, timeout=1, success_codes=codes)
    assert caught.value.problems[0].argument == "success_codes"


def test_progress_counts_by_the_codes_of_success(connect: Any) -> None:
    seen: list[da.reports.Progress] = []
    with serving(always(http(ended(0, 200)))) as server:
        client = connect(server.base_url)
        client.wait_for_segment(7, timeout=20, check=False, success_codes=[0], progress=seen.append)
    assert [(one.done, one.failed) for one in seen] == [(2, 1)]
