"""`with sandbox.environment():` names the sandbox for this process and its children."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import dataaccess as da

JOB = """
import os
import dataaccess as da
print(len(da.search_codes(["id"], allocated_time=da.on("2024-01-15"))), sorted(n for n in os.environ if "DATAACC" in n))
"""


def test_a_job_in_a_child_process_uses_the_sandbox(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_PROFILE", "nope")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere.pem")
    before = dict(os.environ)
    with sandbox.environment():
        assert da.Client().base_url == sandbox.base_url
        done = subprocess.run([sys.executable, "-c", JOB], capture_output=True, encoding="utf-8", check=True)
        token = os.environ["DATAACCESS_TOKEN"]
    assert done.stdout == "73 ['DATAACCESS_BASE_URL', 'DATAACCESS_TOKEN']\n"
    assert dict(os.environ) == before
    with pytest.raises(da.PermissionDeniedError):
        da.Client(sandbox.base_url, token=token).search_codes(allocated_time=da.on("2024-01-15"))


def test_an_error_restores_it_too_and_so_does_a_block_in_a_block(sandbox: da.Sandbox) -> None:
    def job(other: da.Sandbox) -> None:
        with sandbox.environment():
            with other.environment(scopes=["download"]):
                os.environ["DATAACCESS_TIMEZONE"] = "Asia/Tokyo"
                with pytest.raises(da.PermissionDeniedError):
                    da.search_codes(allocated_time=da.on("2024-01-15"))
            assert os.environ["DATAACCESS_BASE_URL"] == sandbox.base_url
            raise KeyError

    with da.Sandbox() as other, pytest.raises(KeyError):
        job(other)
    assert [name for name in os.environ if name.startswith("DATAACCESS_")] == []
