"""`meta.total` as `"1"` beside one entry is no other number of entries; `"2"` is.

Source: API specification 2.5: `total` is the number of entries.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, http

import dataaccess as da


@pytest.mark.parametrize("total", [1, "1", 1.0, None, 2, "2", "many"])
def test_only_another_number_warns(client_of: Any, recwarn: pytest.WarningsRecorder, total: Any) -> None:
    client = client_of(http({**EXPORT, "data": {"entries": [ENTRY], "meta": {"total": total}}}))
    assert client.download_segment(7)["meta"]["total"] == total
    is_other = total in (2, "2", "many")
    assert [warning.category for warning in recwarn] == [da.IncompleteWarning] * is_other
