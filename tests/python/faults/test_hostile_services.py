"""What a service or a proxy sends without end takes no memory, and what it plants goes nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RESPONSE, http, serving

import dataaccess as da


def test_a_cookie_is_never_sent_back(connect: Any) -> None:
    response = http(headers=("Set-Cookie: session=planted; Path=/",))
    with serving(lambda connection, _number: connection.sendall(response)) as server:
        client = connect(server.base_url)
        for _ in range(2):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert len(server.requests) == 2
        assert not any("cookie" in request.headers for request in server.requests)


def test_no_name_of_a_file_comes_from_a_response(connect: Any, tmp_path: Path) -> None:
    names = ["../planted", "/planted", "day=2024-01-16", ".dataaccess/lock", "a\\b"]
    record = {"id": "../../planted", "allocated_time": "2024-01-15 10:00:00", **dict.fromkeys(names, "../planted")}
    response = http({**RESPONSE, "message": "../planted", "data": {"status": True, "data": [record]}})
    with serving(lambda connection, _number: connection.sendall(response)) as server:
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
