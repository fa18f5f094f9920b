"""A user's story: a team tests its ETL job with the fixtures of the package, and with a service that is busy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dataaccess as da


def save_used_codes(day: str, file: Path, client: da.Client | None = None) -> None:
    """The team's job. It reads base URL and token from the environment, as in production."""
    client = client or da.Client()
    codes = client.search_codes(["id", "last_used_time"], allocated_time=da.on(day), code_status="used")
    file.write_text(json.dumps(codes), encoding="utf-8")


@pytest.mark.usefixtures("short_pauses")
def test_the_job_outlives_a_busy_service(dataaccess_sandbox: da.Sandbox, tmp_path: Path) -> None:
    with dataaccess_sandbox.fault("status", status=503, retry_after=0, times=2):
        save_used_codes("2024-01-15", tmp_path / "codes.json")
    codes = json.loads((tmp_path / "codes.json").read_text(encoding="utf-8"))
    assert all(code["id"].startswith("demo-") and code["last_used_time"] for code in codes)
    assert [request.path for request in dataaccess_sandbox.requests] == ["/access/api/item/search"] * 3


def test_half_a_response_is_no_file(dataaccess_sandbox: da.Sandbox, tmp_path: Path) -> None:
    with dataaccess_sandbox.fault("cut", after_bytes=300), pytest.raises(da.TransportError):
        save_used_codes("2024-01-15", tmp_path / "codes.json", da.Client(retry_for=0))
    assert not list(tmp_path.iterdir())
