"""The types of columns: one list in the core, and one table in Python, which have the same types."""

from __future__ import annotations

from itertools import chain
from typing import Any, get_args, get_type_hints

import polars as pl
import pytest
from support.arguments import about

import dataaccess as da
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._types import ColumnType, ColumnTypeAlias

SCAN: dict[str, Any] = {"attrs": ["name"], "allocated_time": da.on("2024-01-15")}


def test_the_table_has_the_types_of_the_core(client: da.Client) -> None:
    with pytest.raises(da.ValidationError, match=rf" {', '.join(COLUMN_TYPES)}$", check=about('schema["name"]')):
        client.scan_codes(**SCAN, schema={"name": "none of them"})  # type: ignore[dict-item]
    assert get_args(ColumnType) == tuple(COLUMN_TYPES)


def test_the_core_knows_each_alias(client: da.Client) -> None:
    for alias in chain.from_iterable(map(get_args, get_args(ColumnTypeAlias))):
        assert client.scan_codes(**SCAN, schema={"name": alias}).schema["name"] in COLUMN_TYPES


@pytest.mark.parametrize("kind", COLUMN_TYPES)
def test_polars_has_the_type_of_the_table(kind: str) -> None:
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", [{"id": "a", "allocated_time": "2024-01-15 10:00:00"}])
        schema: Any = {"name": kind}
        scan = sandbox.client().scan_codes(**SCAN, schema=schema)
        assert scan.to_polars().schema["name"] == COLUMN_TYPES[kind].polars(pl)
        assert scan.to_lazyframe().collect_schema()["name"] == COLUMN_TYPES[kind].polars(pl)


@pytest.mark.parametrize("kind", COLUMN_TYPES)
def test_a_declared_attribute_has_one_of_the_annotated_types(kind: str) -> None:
    annotated = get_args(get_args(get_type_hints(da.Sandbox.declare)["attributes"])[1])
    with da.Sandbox() as sandbox:
        try:
            sandbox.declare("store", 7, {"store_id": "string", "other": kind})  # type: ignore[dict-item]
        except da.SandboxError:
            assert kind not in annotated
        else:
            assert kind in annotated
