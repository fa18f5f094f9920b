"""The hint for a value of another type names a type that keeps strings as they are.

Source: a trial of notebooks.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da


def body(*records: dict[str, Any]) -> dict[str, Any]:
    return {"code": 200, "message": "", "data": {"status": True, "data": list(records)}}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, "a"], "string"),
        ([True, 1], "string"),
        ([1, 2.5], "float64"),
        ([{}, "a"], "string"),
        ([*[None] * 20, 7], "int64"),
    ],
)
def test_the_hint_names_a_type_that_takes_all(values: list[Any], kind: Any) -> None:
    with serving(always(http(body(*({"x": value} for value in values))))) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
        scan = client.scan_items("store", ["x"], da.col("y").equals("1"))
        with pytest.raises(da.DataAccessError) as caught:
            for _ in scan.batches(max_rows=1):
                pass
        assert re.search(rf'schema\["x"\].*"{kind}"', str(caught.value) + str(caught.value.__cause__))
        same = client.scan_items("store", ["x"], da.col("y").equals("1"), schema={"x": kind})
        assert len([row for batch in same.batches(max_rows=1) for row in batch.to_dicts()]) == len(values)
