"""The types of arguments, named once for both clients and the module functions. For type checkers only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dataaccess.filters import Comparison, Days, Expression, Values

if TYPE_CHECKING:
    from dataaccess.reports import ScanProgress

Row: TypeAlias = dict[str, Any]
"""One record: attribute to wire value."""

Expiry: TypeAlias = datetime | float
"""A time with a zone, or Unix seconds."""

TokenArgument: TypeAlias = str | Callable[[], str | tuple[str, Expiry]] | None
"""A token, a callable that gives one, or None for `DATAACCESS_TOKEN`."""

ValuesOrOperator: TypeAlias = Values | Comparison
"""One value, several, or `da.op(…)`."""

TimeCondition: TypeAlias = Comparison | Days
"""`da.after(t)`, `da.before(t)`, `da.on(day)`, `da.op(…)`. `da.days(start, stop)` is for scans of several requests."""

Where: TypeAlias = Expression | Mapping[str, Any]
"""An expression, or the document's `{"OR": [{"AND": […]}]}`."""

Attributes: TypeAlias = str | Iterable[str]
"""Names of attributes."""

Schema: TypeAlias = Mapping[str, Literal["string", "int64", "float64", "bool", "timestamp", "json"]]
"""Types of columns by the names of their attributes."""

OnUpdate: TypeAlias = Callable[[dict[str, Any]], object]
"""Called with each answer of a wait."""

OnProgress: TypeAlias = Callable[["ScanProgress"], object]
"""Called while a scan runs."""

PathArgument: TypeAlias = str | PathLike[str]
"""A file or folder."""
