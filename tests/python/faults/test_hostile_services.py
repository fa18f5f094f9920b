"""What a service or a proxy sends without end takes no memory, and what it plants goes nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.operations import Operation
from support.raw_server import RESPONSE, always, http, serving
from support.searches import search

import dataaccess as da


def test_a_cookie_is_never_sent_back(connect: Any) -> None:
    response = http(headers=("Set-Cookie: session=planted; Path=/",))
    with serving(always(response)) as server:
        client = connect(server.base_url)
        for _ in range(2):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert len(server.requests) == 2
        assert not any("cookie" in request.headers for request in server.requests)


def test_no_name_of_a_file_comes_from_a_response(connect: Any, tmp_path: Path) -> None:
    names = ["../planted", "/planted", "day=2024-01-16", ".dataaccess/lock", "a\\b"]
    record = {"id": "../../planted", "allocated_time": "2024-01-15 10:00:00", **dict.fromkeys(names, "../planted")}
    response = http({**RESPONSE, "message": "../planted", "data": {"status": True, "data": [record]}})
    with serving(always(response)) as server:
        scan = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        scan.to_folder(tmp_path / "inner" / "codes")
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert [name for name in found if "/.dataaccess/" not in name] == ["inner/codes/day=2024-01-15/part-0.parquet"]
    assert [path.name for path in (tmp_path / "inner" / "codes").iterdir()].count("day=2024-01-16") == 0


def test_nothing_is_read_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = (
        '[profiles.default]\nbase_url = "https://evil.example.com"\ntoken = "planted"\nproxy = "http://127.0.0.1:9"\n'
    )
    for name in ("config.toml", ".dataaccess.toml", "dataaccess.toml", "dataaccess/config.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(planted, encoding="utf-8")
    (tmp_path / ".env").write_text("DATAACCESS_BASE_URL=https://evil.example.com\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(da.ConfigError):
        da.Client(token="tok-test")


# H29: every way to have no records, and the value in their place.
EMPTY: dict[str, tuple[dict[str, Any], str]] = {
    "H29-list": ({"data": {"status": True, "data": []}}, "data.data []"),
    "H29-null": ({"data": {"status": True, "data": None}}, "data.data null"),
    "H29-object": ({"data": {"status": True, "data": {}}}, "data.data {}"),
    "H29-absent": ({"data": {"status": True}}, "data.data absent"),
    "H29-data-list": ({"data": []}, "data []"),
    "H29-data-null": ({"data": None}, "data null"),
    "H29-data-object": ({"data": {}}, "data {}"),
    "H29-data-absent": ({}, "data absent"),
}


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.parametrize("case", EMPTY)
def test_every_empty_response_is_no_rows_and_reported(connect: Any, case: str) -> None:
    members, reported_as = EMPTY[case]
    with serving(always(http({"code": 200, **members}))) as server:
        client = connect(server.base_url)
        assert search(client) == []
        scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert list(scan.batches()) == []
        assert (scan.last_stats.rows, scan.last_stats.empty_shape) == (0, reported_as)
        assert scan.collect().num_rows == 0
        assert scan.last_stats.empty_shape == reported_as


def test_a_response_without_data_is_warned_of(connect: Any) -> None:
    numbers = iter(range(100))

    def serve(connection: Any, _number: int) -> None:
        data = {} if next(numbers) % 3 == 0 else {"data": {"status": True, "data": [{"id": "a"}]}}
        connection.sendall(http({"code": 200, **data}))

    with serving(serve) as server:
        client = connect(server.base_url, concurrency=1)
        days = da.days("2024-01-15", "2024-01-18")
        with pytest.warns(da.IncompleteWarning, match=r"\b1 of 3\b.*`data` \(2024-01-15\)"):
            assert client.scan_codes(["id"], allocated_time=days).collect().num_rows == 2
        with pytest.warns(da.IncompleteWarning, match="`data`"):
            assert search(client) == []


@pytest.mark.fault("H18")
@pytest.mark.parametrize(
    ("to", "host"),
    [
        ("http://localhost:{other}/access/api/item/search", "localhost"),
        ("http://127.0.0.1:{own}/access/api/item/search", "127.0.0.1"),
        ("/access/api/item/other", "127.0.0.1"),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_redirect_is_reported_and_not_followed(connect: Any, ask: Operation, to: str, host: str) -> None:
    def respond(connection: Any, _number: int) -> None:
        location = f"Location: {to.format(own=server.port, other=other.port)}"
        connection.sendall(http(b"", "307 Moved", headers=(location,) if to else ()))

    with serving(always(http())) as other, serving(respond) as server:
        client = connect(server.base_url, token="tok-secret", headers={"X-Api-Key": "hunter2"})
        with pytest.raises(kinds.Redirect) as caught:
            ask(client)
        assert (len(server.requests), other.connections) == (1, 0)
    assert caught.value.location_host == host
