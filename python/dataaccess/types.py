"""The types of arguments and results, for annotations in your own code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import IntEnum
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

from dataaccess._public import public
from dataaccess.filters import Comparison, Days, Expression, Values
from dataaccess.reports import ScanProgress


@public
class CodeStatus(IntEnum):
    """Status of a promotion code: what `code_status=` takes and the attribute `code_status` holds."""

    AVAILABLE = 1
    SENT = 3
    USED = 4


@public
class AudienceType(IntEnum):
    """Kind of the holder of a promotion code: what `audience_type=` takes and the attribute `audience_type` holds."""

    CUSTOMER = -1003
    VISITOR = -1007


class Request(TypedDict):
    """A request of a scan."""

    method: str
    url: str
    body: dict[str, Any]


Row: TypeAlias = dict[str, Any]
"""One record: attribute to value."""

Expiry: TypeAlias = datetime | float
"""A datetime with a time zone, or Unix seconds."""

TokenArgument: TypeAlias = str | Callable[[], str | tuple[str, Expiry]] | None
"""A token, a callable that returns one, or None for `DATAACCESS_TOKEN`."""

ValuesOrOperator: TypeAlias = Values | Comparison
"""One value, several, or `da.op(…)`."""

TimeCondition: TypeAlias = Comparison | Days
"""What `da.after`, `da.before`, `da.since`, `da.between`, `da.on`, `da.days` and `da.op` return."""

Where: TypeAlias = Expression | Mapping[str, Any]
"""An expression of `da.col`, or the raw filters `{"OR": [{"AND": […]}]}`."""

Attributes: TypeAlias = str | Iterable[str]
"""Names of attributes."""

Schema: TypeAlias = Mapping[str, Literal["string", "int64", "float64", "bool", "timestamp", "json"]]
"""Types of columns by attribute."""

OnUpdate: TypeAlias = Callable[[dict[str, Any]], object]
"""Called with each response of a wait but the last."""

OnProgress: TypeAlias = Callable[[ScanProgress], object]
"""Called while a scan runs."""

PathArgument: TypeAlias = str | PathLike[str]
"""A file or folder."""
