"""The hint for a value of another type names a type that keeps strings as they are.

Source: a trial of notebooks.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds

import dataaccess as da


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
def test_the_hint_names_a_type_that_takes_all(client_of: Any, values: list[Any], kind: Any) -> None:
    client = client_of([{"x": value} for value in values])
    with pytest.raises(da.DataAccessError) as caught:
        list(client.scan_items("store", ["x"], da.col("y").equals("1")).batches(max_rows=1))
    hinted: Any = caught.value if caught.value.hint else caught.value.__cause__
    assert kinds.fixed_by(hinted) == ["x", kind]
    same = client.scan_items("store", ["x"], da.col("y").equals("1"), schema={"x": kind})
    assert sum(batch.num_rows for batch in same.batches(max_rows=1)) == len(values)
