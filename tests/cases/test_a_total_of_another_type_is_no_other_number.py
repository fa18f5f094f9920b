"""`meta.total` as `"1"` beside one entry is no other number of entries; `"2"` is.

Source: API specification 2.5: `total` is the number of entries. A trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, always, http, serving

import dataaccess as da


def status(total: Any) -> Any:
    with serving(always(http({**EXPORT, "data": {"entries": [ENTRY], "meta": {"total": total}}}))) as server:
        return da.Client(server.base_url, token="t").download_segment(7)


@pytest.mark.parametrize("total", [1, "1", 1.0, None])
def test_the_same_number(total: Any) -> None:
    # Warnings are errors in tests.
    assert status(total)["meta"]["total"] == total


@pytest.mark.parametrize("total", [2, "2", "many"])
def test_another_number(total: Any) -> None:
    with pytest.warns(da.IncompleteWarning, match="entries"):
        status(total)
