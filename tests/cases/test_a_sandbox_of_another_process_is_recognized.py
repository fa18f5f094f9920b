"""A sandbox that another process serves is recognized: `is_sandbox` is True after a response, one `SandboxWarning`.

Source: a trial of notebooks
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da

SERVED = """
import dataaccess as da, json, sys
with da.Sandbox.demo(until="2024-02-29") as sandbox:
    print(json.dumps([sandbox.base_url, sandbox.issue_token(), sandbox.start_export()]), flush=True)
    sys.stdin.read()
"""
DAY = da.on("2024-01-15")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str, int]]:
    # Its port may be that of a sandbox that this process had before.
    monkeypatch.setattr("dataaccess._core.embedded._known", set())
    command = [sys.executable, "-c", SERVED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url, token, export = json.loads(process.stdout.readline())
        yield url, token, export
        process.stdin.close()


USES: dict[str, Any] = {
    "search": lambda client, _: client.search_codes(["id"], allocated_time=DAY),
    "dicts": lambda client, _: client.scan_codes(["id"], allocated_time=DAY).to_dicts(),
    "table": lambda client, _: client.scan_codes(["id"], allocated_time=DAY).collect(),
    "batches": lambda client, _: list(client.scan_codes(["id"], allocated_time=DAY).batches()),
    "segment": lambda client, export: client.download_segment(export),
}


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
            again(client, export)
            again(da.Client(url, token=token), export)


def test_a_check_says_it(served: tuple[str, str, int]) -> None:
    url, token, _ = served
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.SandboxWarning)
        check = da.Client(url, token=token).check()
    assert check.is_sandbox
    assert "synthetic" in str(check)


def test_a_platform_is_none(sandbox: da.Sandbox) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", da.SandboxWarning)
        with serving(always(http(RESPONSE))) as server:
            client = da.Client(server.base_url, token="t")
            client.search_codes(["id"], allocated_time=da.after("2024-01-01"))
            assert not client.is_sandbox
        # Whoever starts a sandbox knows it.
        mine: Any = sandbox.client()
        mine.search_codes(["id"], allocated_time=DAY)
        assert mine.is_sandbox
