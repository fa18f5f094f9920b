"""Arguments of calls and scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from dataaccess.filters import Comparison, Days, Expression, Time, Values

Attributes: TypeAlias = str | Iterable[str]
"""Names of attributes."""

ItemTypeName: TypeAlias = Literal["customer", "promotion_code"] | str
"""The name of a business object."""

AttrsFormat: TypeAlias = Literal["array", "string"]
"""How the names of attributes are sent."""

ValuesOrOperator: TypeAlias = Values | Comparison
"""One value, several, or `da.op(…)`."""

TimeCondition: TypeAlias = Comparison | Days
"""What `da.after`, `da.since`, `da.days` and the other functions for times return, and `da.op`."""

Where: TypeAlias = Expression | Mapping[str, Any]
"""An expression of `da.col`, or the raw filters `{"OR": [{"AND": […]}]}`."""

OnSuspectedCap: TypeAlias = Literal["warn", "split"]
"""What a scan does with responses that look capped."""

OnDoubt: TypeAlias = Literal["warn", "error"] | Callable[[Any], bool]
"""What happens to a complete result whose data look wrong; a function gets its figures and says whether it is kept."""

Refresh: TypeAlias = Time | Days | Iterable[Time | Days]
"""A day of a scan, several days, or text such as "last 3 days"."""
