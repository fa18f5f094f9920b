"""A sandbox that another process serves is recognized: `is_sandbox` is True after a response, one `SandboxWarning`.

Source: a trial of notebooks.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import dataaccess as da

SERVED = """
import dataaccess as da, json, sys
with da.Sandbox.demo(until="2024-02-29") as sandbox:
    print(json.dumps([sandbox.base_url, sandbox.issue_token(), sandbox.start_export()]), flush=True)
    sys.stdin.read()
"""
DAY = da.on("2024-01-15")
USES: dict[str, Any] = {
    "search": lambda client, _: client.search_codes(["id"], allocated_time=DAY),
    "dicts": lambda client, _: client.scan_codes(["id"], allocated_time=DAY).to_dicts(),
    "table": lambda client, _: client.scan_codes(["id"], allocated_time=DAY).collect(),
    "batches": lambda client, _: list(client.scan_codes(["id"], allocated_time=DAY).batches()),
    "segment": lambda client, export: client.download_segment(export),
    "check": lambda client, _: client.check(),
}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str, int]]:
    # Its port may be that of a sandbox that this process had before.
    monkeypatch.setattr("dataaccess._core.embedded._known", set())
    with subprocess.Popen([sys.executable, "-c", SERVED], stdin=-1, stdout=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url, token, export = json.loads(process.stdout.readline())
        yield url, token, export
        process.stdin.close()


@pytest.mark.parametrize("use", USES)
def test_it_warns_once(served: tuple[str, str, int], use: str) -> None:
    url, token, export = served
    client = da.Client(url, token=token)
    with pytest.warns(da.SandboxWarning, match=url):
        USES[use](client, export)
    assert client.is_sandbox
    with warnings.catch_warnings():
        warnings.simplefilter("error", da.SandboxWarning)
        for again in USES.values():
            again(da.Client(url, token=token), export)
    assert client.check().is_sandbox


def test_a_platform_is_none(client_of: Any) -> None:
    client = client_of([{"id": "a"}])
    client.search_codes(["id"], allocated_time=DAY)
    assert not client.is_sandbox
