"""Columns: their types, and the time zone of timestamps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Any, Literal, Protocol, TypeAlias

from dataaccess._public import ClientZone

ColumnType: TypeAlias = Literal["string", "int64", "float64", "bool", "timestamp", "json"]
"""The type of a column."""

ColumnTypeAlias: TypeAlias = (
    Literal["str", "String", "large_string", "int", "Int64", "float", "Float64", "double", "boolean", "Boolean"]
    | Literal["datetime", "Datetime", "datetime64", "datetime64[s]", "datetime64[ms]", "datetime64[us]"]
    | Literal["datetime64[ns]", "timestamp[s]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]"]
    | Literal["dict", "list", "struct"]
)
"""What Python, pandas, polars or pyarrow call the type of a column."""


class _DtypeLike(Protocol):
    """A dtype of numpy or pandas."""

    @property
    def kind(self) -> str: ...


class _PolarsType(Protocol):
    """A type of polars with parameters."""

    def base_type(self) -> Any: ...


Schema: TypeAlias = Mapping[str, ColumnType | ColumnTypeAlias | type[Any] | _DtypeLike | _PolarsType]
"""Types of columns by attribute: a `ColumnType`, or a type of Python, pandas, polars or pyarrow, or its name."""

DtypeBackend: TypeAlias = Literal["numpy_nullable", "pyarrow"]
"""What pandas calls `dtype_backend`."""

TimeZone: TypeAlias = str | tzinfo
"""The IANA name of a time zone, or a `zoneinfo.ZoneInfo`."""

ResultZone: TypeAlias = TimeZone | ClientZone | None
"""The time zone of a result."""
