"""Switches set from Python, and what a client or a plain request sees of them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da
from dataaccess._sandbox.options import PLATFORMS
from dataaccess.types import Schema

TIME = dt.datetime(2024, 1, 14, 20, 30, tzinfo=dt.UTC)
WRITTEN = "2024-01-15 03:30:00"
NAIVE = dt.datetime.fromisoformat(WRITTEN)
ROWS: dict[str, Any] = {
    "aware": [{"visit_id": "1", "time": TIME}],
    "naive": [{"visit_id": "1", "time": NAIVE}],
    "text": [{"visit_id": "1", "time": WRITTEN}],
    "pandas": pd.DataFrame({"visit_id": ["1"], "time": [pd.Timestamp(TIME)]}),
}


@pytest.mark.parametrize("form", ROWS)
def test_a_load_writes_times_in_the_zone_of_records(form: str) -> None:
    with da.Sandbox(switches={"source_timezone": "Asia/Ho_Chi_Minh"}) as sandbox:
        sandbox.declare("visit", 7, {"visit_id": "string", "time": "timestamp"})
        sandbox.load("visit", ROWS[form])
        client = sandbox.client(timezone="UTC", source_timezone="Asia/Ho_Chi_Minh")
        where = da.col("time").on("2024-01-14")
        schema: Schema = {"time": "timestamp"}
        assert client.search_items("visit", ["time"], where, item_type_id=7) == [{"time": WRITTEN}]
        table = client.scan_items("visit", ["visit_id", "time"], where, item_type_id=7, schema=schema).collect()
        assert table["time"] == [TIME]
        # What one sandbox returns another one takes: the instants stay.
        with da.Sandbox() as other:
            other.declare("visit", 7, {"visit_id": "string", "time": "timestamp"})
            other.load("visit", table)
            assert other.client().search_items("visit", ["time"], item_type_id=7) == [{"time": "2024-01-14 20:30:00"}]


@contextmanager
def plain(**switches: Any) -> Iterator[PlainService]:
    """A service without data, and a token for searches."""
    with (
        da.Sandbox(switches=switches) as sandbox,
        PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service,
    ):
        yield service


def search_of_codes(**members: Any) -> dict[str, Any]:
    """A search of the codes of a day, whose condition has these members too."""
    body: dict[str, Any] = da.validate_codes(["id"], allocated_time=da.on("2024-01-15"))
    body["filters"]["OR"][0]["AND"][-1].update(members)
    return body


@pytest.mark.parametrize(
    ("switch", "member"),
    [("value_type", {"value_type": "normal"}), ("code_condition_type", {"condition_type": "comp_attr"})],
)
@pytest.mark.parametrize(
    ("taken", "with_it", "without_it"), [("optional", 200, 200), ("required", 200, 400), ("refused", 400, 200)]
)
def test_a_condition_of_codes_may_need_or_refuse_a_member_of_the_generic_shape(
    switch: str, member: dict[str, str], taken: str, with_it: int, without_it: int
) -> None:
    with plain(**{switch: taken}) as service:
        replies = {with_it: service.search(search_of_codes(**member)), without_it: service.search(search_of_codes())}
        for status, reply in replies.items():
            assert reply.status == status
            if status == 400:
                (name,) = member
                assert re.match(rf"filters\.OR\[0\]\.AND\[0\]: `{name}` is (required$|not known here)", reply.refusal)


@pytest.mark.parametrize("form", [int, str])
def test_the_rows_of_an_export_have_the_type_of_the_switch(form: type) -> None:
    name = "string" if form is str else "number"
    with da.Sandbox(switches={"exported_rows_type": name}) as sandbox:
        export = sandbox.start_export(rows=7, seconds=0)
        entry: dict[str, Any] = dict(sandbox.client().download_segment(export)["entries"][0])
        assert entry["exportedRows"] == form(7)
        running = sandbox.client().download_segment(sandbox.start_export(rows=7, seconds=60))["entries"][0]
        assert running["exportedRows"] is None


def test_the_scheme_of_the_token_in_another_case_may_be_refused() -> None:
    with plain(bearer_case="exact") as service:
        assert service.search(search_of_codes()).status == 200
        token = service.headers["Authorization"].removeprefix("Bearer ")
        for scheme in ("bearer", "BEARER"):
            reply = service.post(SEARCH, search_of_codes(), {"Authorization": f"{scheme} {token}"})
            assert reply.status == 403, scheme


@pytest.mark.parametrize(("taken", "status"), [("scope_first", 403), ("export_first", 404)])
def test_the_order_of_the_checks_of_a_download(taken: str, status: int) -> None:
    with da.Sandbox(switches={"download_order": taken}) as sandbox:
        known, unknown = ({"scope": "download", "exportId": each} for each in (sandbox.start_export(), 1))
        item, download = (sandbox.issue_token([scope]) for scope in ("item", "download"))
        for token, statuses in ((item, (status, 403)), (download, (404, 200)), ("no-token", (403, 403))):
            with PlainService(sandbox.base_url, token) as service:
                assert tuple(service.post(DOWNLOAD, body).status for body in (unknown, known)) == statuses


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_platform_has_its_switches(name: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", platform=name) as sandbox:
        found = sandbox._control.call("GET", "/switches")
        zone = found["day_zone"]
        rows = sandbox.client(timezone=zone, source_timezone=found["source_timezone"]).search_codes(
            ["allocated_time"], allocated_time=da.on("2024-01-15")
        )
    defaults = {"day_zone": "UTC", "source_timezone": "UTC", "day_comparison": "exclusive"}
    assert {each: found[each] for each in defaults} == {**defaults, **PLATFORMS[name]}
    if name == "local-times":
        assert {row["allocated_time"][:10] for row in rows} == {"2024-01-15"}


def test_switches_win_over_the_platform(tmp_path: Path) -> None:
    file = tmp_path / "platform.toml"
    file.write_text('[switches]\nempty_shape = "absent"\nlatency = 60\n', encoding="utf-8")
    with da.Sandbox(platform=file, switches={"empty_shape": "null", "latency": 0}) as sandbox:
        body = da.validate_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert sandbox.client().post("/access/api/item/search", {**body})["data"] == {"status": True, "data": None}
