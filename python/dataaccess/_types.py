"""The types of arguments, named once for both clients and the module functions. For type checkers only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from dataaccess.filters import Comparison, Days, Expression, Values

Row: TypeAlias = dict[str, Any]
"""One record: attribute to wire value."""

Expiry: TypeAlias = datetime | float
"""A time with a zone, or Unix seconds."""

TokenArgument: TypeAlias = str | Callable[[], str | tuple[str, Expiry]] | None
"""A token, a callable that gives one, or None for `DATAACCESS_TOKEN`."""

ValuesOrOperator: TypeAlias = Values | Comparison
"""One value, several, or `da.op(…)`."""

TimeCondition: TypeAlias = Comparison | Days
"""`da.after(t)`, `da.before(t)`, `da.on(day)`, `da.op(…)`; for scans also `da.days(start, stop)`."""

Where: TypeAlias = Expression | Mapping[str, Any]
"""An expression, or the document's `{"OR": [{"AND": […]}]}`."""

Attributes: TypeAlias = str | Iterable[str]
"""Names of attributes."""

OnUpdate: TypeAlias = Callable[[dict[str, Any]], object]
"""Called with each answer of a wait."""
