"""`Client(record=…)` keeps exchanges without the token; `Sandbox.replay` serves them again, failures too."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")

DAY = da.on("2024-01-15")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "exchanges.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_recording_has_each_request_and_its_response(own: da.Sandbox, path: Path) -> None:
    rows = own.client(record=path).search_codes(["id"], allocated_time=DAY)

    (exchange,) = lines(path)
    assert exchange["path"] == "/access/api/item/search"
    assert exchange["request"] == da.validate_codes(["id"], allocated_time=DAY)
    assert (exchange["status"], exchange["failure"]) == (200, None)
    assert exchange["headers"]["content-type"] == "application/json"
    assert json.loads(exchange["body"])["data"]["data"] == rows


def test_a_recording_warns_and_only_its_owner_can_read_it(own: da.Sandbox, path: Path) -> None:
    with pytest.warns(da.DataAccessWarning, match=re.escape(str(path))) as caught:
        own.client(record=path)

    assert caught[0].filename == __file__
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_token_is_in_a_recording_even_if_the_service_repeats_it(own: da.Sandbox, path: Path) -> None:
    token = own.issue_token()
    own.declare("note", 9, {"text": "string"})
    own.load("note", [{"text": f"{'x' * number}{token}"} for number in range(900)])
    client = da.Client(own.base_url, token=token, record=path)

    rows = client.search_items("note", ["text"], item_type_id=9)

    assert sum(token in row["text"] for row in rows) == 900
    recorded = path.read_text(encoding="utf-8")
    assert token not in recorded
    assert recorded.count("[token]") == 900


def test_no_token_is_in_a_recording_or_error_though_the_service_escapes_it(path: Path) -> None:
    token = "aaaa/bbbb+cccc/dddd"
    escaped = r"aaaa\/bbbb\u002Bcccc\/dddd"
    body = f'{{"message":"no such token: {escaped}"}}'.encode()
    with serving(always(http(body, "400 Bad Request"))) as server:
        client = da.Client(server.base_url, token=token, record=path)
        with pytest.raises(da.RequestRejectedError) as caught:
            client.search_codes(["id"], allocated_time=DAY)
    for shown in (str(caught.value), str(caught.value.body_excerpt), path.read_text(encoding="utf-8")):
        assert "no such token: " in shown
        assert "cccc" not in shown


def test_a_replay_gives_the_same_rows_columns_and_status(own: da.Sandbox, path: Path) -> None:
    def use(client: da.Client) -> list[Any]:
        scan = client.scan_codes(allocated_time=da.days("2024-01-10", "2024-01-20"))
        return [scan.to_dicts(), scan.to_arrow(), client.download_segment(5637054)]

    with own.client(record=path, concurrency=4) as client:
        recorded = use(client)

    with da.Sandbox.replay(path) as replay:
        assert use(replay.client()) == recorded
        assert use(replay.client()) == recorded, "the last responses are repeated"


def test_a_failure_is_replayed_in_its_turn(own: da.Sandbox, path: Path) -> None:
    with own.fault("status", status=503, retry_after=0, times=1):
        rows = own.client(record=path).search_codes(allocated_time=DAY)

    with da.Sandbox.replay(path) as replay:
        client = replay.client()
        assert client.search_codes(allocated_time=DAY) == rows
        assert client.stats.retries == 1
        assert [request.status for request in replay.requests] == [503, 200]


def test_a_response_that_was_cut_off_is_cut_off_again(own: da.Sandbox, path: Path) -> None:
    with own.fault("cut", after_bytes=300), pytest.raises(da.TransportError):
        own.client(record=path, retry_for=0).search_codes(allocated_time=DAY)
    assert " 300 " in lines(path)[0]["failure"]

    with da.Sandbox.replay(path) as replay, pytest.raises(da.TransportError):
        replay.client(retry_for=0).search_codes(allocated_time=DAY)


def test_a_request_that_was_not_recorded_is_refused_with_the_closest_one(own: da.Sandbox, path: Path) -> None:
    client = own.client(record=path)
    client.search_codes(["id", "name", "code_status"], allocated_time=da.on("2024-01-20"))
    client.search_codes(allocated_time=DAY)

    with da.Sandbox.replay(path) as replay:
        with pytest.raises(da.RequestRejectedError) as caught:
            replay.client().search_codes(allocated_time=da.on("2024-01-16"))
        with pytest.raises(da.RequestRejectedError, match="/access/api/segment/download"):
            replay.client().download_segment(1)
        refused, of_other_path = replay.requests

    assert caught.value.status == 404
    first = r"line 2, differs in filters\.OR\[0\]\.AND\[0\]\.value: 1705276800000 is recorded, 1705363200000 was sent$"
    for message in (caught.value.api_message, refused.message):
        assert re.search(first, str(message)), message
    assert "2 requests" in str(of_other_path.message)


@pytest.mark.parametrize("cut_off", ["", '{"recording":2,"id":"killed'])
def test_a_client_that_opens_a_recording_again_appends(own: da.Sandbox, path: Path, cut_off: str) -> None:
    first = own.client(record=path).search_codes(["id"], allocated_time=DAY)
    with path.open("a") as file:
        file.write(cut_off)
    if cut_off:
        with da.Sandbox.replay(path) as replay:
            assert replay.client().search_codes(["id"], allocated_time=DAY) == first
            with pytest.raises(da.RequestRejectedError, match=r" no end: 1$"):
                replay.client().download_segment(1)
    second = own.client(record=path).search_codes(["name"], allocated_time=DAY)

    with da.Sandbox.replay(path) as replay:
        client = replay.client()
        assert client.search_codes(["name"], allocated_time=DAY) == second
        assert client.search_codes(["id"], allocated_time=DAY) == first


def of(path: Path) -> str:
    return rf"\brecord `{re.escape(str(path))}`"


@pytest.mark.parametrize("content", ["my notes", '{"recording":{"version":1,"base_url":""}}\n'])
def test_record_does_not_touch_another_file(own: da.Sandbox, path: Path, content: str) -> None:
    path.touch(mode=0o600)
    path.write_text(content)
    with pytest.raises(da.ConfigError, match=of(path)):
        own.client(record=path)
    assert path.read_text() == content


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFO in a folder")
def test_record_does_not_touch_a_device(own: da.Sandbox, path: Path) -> None:
    os.mkfifo(path, 0o644)
    mode = path.stat().st_mode
    with pytest.raises(da.ConfigError, match=of(path)):
        own.client(record=path)
    assert path.stat().st_mode == mode


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such links, owners and modes")
def test_record_does_not_touch_what_other_users_may_read_or_own(own: da.Sandbox, path: Path) -> None:
    path.touch(mode=0o644)
    with pytest.raises(da.ConfigError, match=rf"{of(path)}.*\b0644\b"):
        own.client(record=path)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"", 0o644)
    path.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
        with pytest.raises(da.ConfigError, match=rf"{of(path)}.*\b12345\b"):
            own.client(record=path)
        assert path.read_bytes() == b""
        os.chown(path, 0, -1)
    for target in ("missing.jsonl", path.name):
        link = path.with_name(f"link to {target}")
        link.symlink_to(target)
        with pytest.raises(da.ConfigError, match=of(link)):
            own.client(record=link)
    assert not path.with_name("missing.jsonl").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_recording_that_cannot_grow_fails_the_call(own: da.Sandbox, path: Path) -> None:
    import resource

    client = own.client(record=path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        with pytest.raises(da.FileError, match=of(path)) as caught:
            client.search_codes(allocated_time=DAY)
        assert caught.value.errno == errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_records_into_the_same_file(own: da.Sandbox, path: Path) -> None:
    client = own.client(record=path)
    rows = client.search_codes(["id"], allocated_time=DAY)
    child = os.fork()
    if child == 0:
        os._exit(client.search_codes(["name"], allocated_time=DAY) == [])
    assert os.waitpid(child, 0)[1] == 0

    with da.Sandbox.replay(path) as replay:
        assert replay.client().search_codes(["id"], allocated_time=DAY) == rows
        assert replay.client().search_codes(["name"], allocated_time=DAY)
