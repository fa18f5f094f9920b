"""docs/service.md has the sections of the API specification, and its tables the members of requests and responses."""

from __future__ import annotations

import re
from typing import Any

from support.open_points import TABLE
from support.pages import PAGES, ROOT, table, without_blocks

import dataaccess as da

PAGE = ROOT / "docs" / "service.md"
TEXT = without_blocks(PAGE)


def members(heading: str) -> list[str]:
    """The first column of the table under a heading, without marks."""
    return [row[0].strip("`") for row in table(PAGE, heading)]


def test_the_sections_are_those_of_the_specification() -> None:
    numbers = re.findall(r"^#+ ([\d.]+) ", TEXT, re.MULTILINE)
    subsections = {2: 5, 3: 2, 4: 4}
    expected = [[str(one), *(f"{one}.{two + 1}" for two in range(subsections.get(one, 0)))] for one in range(1, 10)]
    assert numbers == [number for group in expected for number in group]


def test_the_attributes_of_codes_are_those_of_the_package() -> None:
    assert members("### 2.2 Promotion code") == list(da.PROMOTION_CODE_ATTRIBUTES)


def test_the_members_of_conditions_are_those_that_the_client_sends() -> None:
    time = da.on("2024-01-15")
    codes = da.validate_codes(["id"], allocated_time=time, code_status="used")
    items = da.validate_items(
        "order", ["id"], da.col("a").matches(["b"]) & da.col("c").on("2024-01-15"), item_type_id=7
    )
    sent: set[str] = set()
    for body in (codes, items):
        groups: list[dict[str, list[dict[str, Any]]]] = body["filters"]["OR"]
        sent |= {member for group in groups for condition in group["AND"] for member in condition}
    assert set(members("### 2.4 Condition")) == sent


def test_the_members_of_an_export_are_those_of_a_response() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        (entry,) = sandbox.client().download_segment(5637051)["entries"]
    assert members("### 2.5 Export entry") == list(entry)


def test_the_members_of_the_envelope_are_those_of_both_responses() -> None:
    codes = da.validate_codes(["id"], allocated_time=da.on("2024-01-15"))
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = sandbox.client()
        search = client.post("/access/api/item/search", {**codes})
        download = client.post("/access/api/segment/download", {"scope": "download", "exportId": 5637051})
    nested = {f"data.{name}" for name in search["data"]}
    assert set(members("### 2.1 Envelope")) == {*search, *nested, *download}


def test_links_to_open_points_name_the_row_that_they_lead_to() -> None:
    linked: list[str] = []
    for page in PAGES:
        named = re.findall(r"\]\((?:docs/)?open-points\.md#(\w+)\)", without_blocks(page))
        assert not [name for name in named if name not in TABLE], page
        linked += named
    # The choices of the sandbox and of the client are rows, and the page of the service links to them.
    of_transport = {"latency", "gzip", "key_order"}
    assert set(TABLE) - of_transport <= set(linked)
