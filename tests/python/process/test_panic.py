"""A panic in Rust: an exception like any other, and everything works on."""

from __future__ import annotations

import asyncio

import pytest

import dataaccess as da
from dataaccess import _native


@pytest.mark.fault("P12")
@pytest.mark.skipif(not hasattr(_native, "panic_for_test"), reason="the extension was built without `testing`")
@pytest.mark.parametrize("runs", ["awaited", "blocking"])
def test_a_panic_is_reported_as_a_bug_and_harms_nothing(sandbox: da.Sandbox, runs: str) -> None:
    async def awaited() -> object:
        return await _native.panic_for_test(runs)  # type: ignore[misc]

    client = sandbox.client()
    for _ in range(3):
        with pytest.raises(da.InternalError):
            asyncio.run(awaited()) if runs == "awaited" else _native.panic_for_test(runs)
        assert client.download_segment(5637051)["code"] == 200
