"""pandas DataFrames: columns that can be written, and the versions of pandas."""

from __future__ import annotations

import inspect
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from support.raw_server import always, serving
from support.streams import client_of, response_of, scan_of

from dataaccess._scan import frames

# Rows of one batch, and of several.
FRAMES = [
    *((10, nulls, backend) for nulls in (False, True) for backend in (None, "numpy_nullable", "pyarrow")),
    *[(70_000, False, None), (70_000, True, None), (70_000, True, "numpy_nullable"), (70_000, False, "pyarrow")],
]


@pytest.mark.parametrize(("rows", "nulls", "backend"), FRAMES)
def test_every_column_of_a_frame_can_be_written(rows: int, nulls: bool, backend: Any) -> None:
    first = {"i": 1, "f": 0.5, "b": True, "t": "2024-01-15 10:00:00", "s": "x", "m": None}
    later = dict.fromkeys(first) if nulls else first
    schema = {"i": "int64", "f": "float64", "b": "bool", "t": "timestamp", "s": "string", "m": "float64"}
    with serving(always(response_of([first] * (rows - 1) + [later]))) as server:
        table = scan_of(client_of(server), list(first), schema=schema).collect()
    before = table.to_pylist()
    written = {"i": -5, "f": 2.5, "b": False, "t": pd.Timestamp("2020-02-29").as_unit("us"), "s": "new", "m": 7.5}
    frame = table.to_pandas(backend)
    for place, (name, value) in enumerate(written.items()):
        frame.iloc[0, place] = value
        frame.loc[frame.index[1:3], name] = value
        frame[name].array[3] = value
        assert frame[name].iloc[:3].tolist() == [value] * 3
    frame["i"] += 1
    frame["f"] *= 2
    frame["b"] = ~frame["b"]
    frame["t"] += pd.Timedelta(days=1)
    assert frame["i"].iloc[0] == -4
    assert table.to_pylist() == before, "the table of Arrow was written"


@pytest.mark.parametrize(("version", "own"), [("2.3.3", False), ("3.0.0", True), ("10.1.0", True)])
def test_the_version_of_pandas_is_read_as_a_number(version: str, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if own and "na_value" not in inspect.signature(pd.StringDtype).parameters:
        pytest.skip("pandas before 2.3 cannot make that type")
    monkeypatch.setattr(pd, "__version__", version)
    text = frames._nullable(pd, pa, None)[pa.string()]
    assert isinstance(text, pd.StringDtype)
    assert (text.na_value is not pd.NA) == own
