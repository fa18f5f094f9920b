"""The types of arguments and results, for annotations in your own code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from enum import IntEnum
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

from dataaccess._public import public
from dataaccess.filters import Comparison, Days, Expression, Value, Values
from dataaccess.filters._values import Time
from dataaccess.reports import ScanProgress

__all__ = [
    "Attributes",
    "AttrsFormat",
    "AudienceType",
    "AudienceTypes",
    "ClientOptions",
    "ClientSettings",
    "CodeAttribute",
    "CodeStatus",
    "CodeStatuses",
    "ColumnType",
    "Expiry",
    "ExportEntry",
    "ItemTypeName",
    "OnProgress",
    "OnSuspectedCap",
    "OnUpdate",
    "PathArgument",
    "Refresh",
    "Request",
    "Row",
    "Schema",
    "SegmentStatus",
    "TimeCondition",
    "TimeZone",
    "Token",
    "Value",
    "Values",
    "ValuesOrOperator",
    "Where",
]


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


Row: TypeAlias = dict[str, Any]
"""One record: attribute to value."""


class ExportEntry(TypedDict):
    """An entry of a segment export. All fields but `exportStatus` and `startTime` are None until it has ended."""

    exportStatus: int
    exportedRows: int | None
    startTime: str
    endTime: str | None
    durations: Any
    responseCode: Any
    responseMessage: Any


class SegmentStatus(TypedDict):
    """The status of a segment export: what `download_segment` returns."""

    entries: list[ExportEntry]
    meta: dict[str, Any]
    code: int
    message: str
    codeMessage: str | None
    duration: str


class Request(TypedDict):
    """A request of a scan."""

    method: str
    url: str
    body: dict[str, Any]


Expiry: TypeAlias = datetime | float
"""A datetime with a time zone, or Unix seconds."""

_Issued: TypeAlias = str | tuple[str, Expiry]

Token: TypeAlias = str | Callable[[], _Issued] | Callable[[], Awaitable[_Issued]]
"""A token, or a function that returns one, with or without the time at which it expires."""

Attributes: TypeAlias = str | Iterable[str]
"""Names of attributes."""

CodeAttribute: TypeAlias = Literal[
    "id",
    "name",
    "pool_id",
    "date_created",
    "allocated_time",
    "allocated_audience",
    "audience_type",
    "code_status",
    "last_used_source",
    "last_used_time",
    "channel_id",
]
"""An attribute of a promotion code."""

ItemTypeName: TypeAlias = Literal["customer", "promotion_code"] | str
"""The name of a business object."""

AttrsFormat: TypeAlias = Literal["array", "string"]
"""How the names of attributes are sent."""

ValuesOrOperator: TypeAlias = Values | Comparison
"""One value, several, or `da.op(…)`."""

CodeStatuses: TypeAlias = Literal["available", "sent", "used"] | CodeStatus | ValuesOrOperator
"""One status of a promotion code, several, or `da.op(…)`."""

AudienceTypes: TypeAlias = Literal["customer", "visitor"] | AudienceType | ValuesOrOperator
"""One kind of holder, several, or `da.op(…)`."""

TimeCondition: TypeAlias = Comparison | Days
"""What `da.after`, `da.before`, `da.since`, `da.between`, `da.on`, `da.days` and `da.op` return."""

Where: TypeAlias = Expression | Mapping[str, Any]
"""An expression of `da.col`, or the raw filters `{"OR": [{"AND": […]}]}`."""

ColumnType: TypeAlias = Literal["string", "int64", "float64", "bool", "timestamp", "json"]
"""The type of a column."""

Schema: TypeAlias = Mapping[str, ColumnType] | Mapping[str, type[object]] | Mapping[str, Any]
"""Types of columns by attribute: a `ColumnType`, or a type of Python, polars or pyarrow."""

OnSuspectedCap: TypeAlias = Literal["warn", "split"]
"""What a scan does with responses that look capped."""

TimeZone: TypeAlias = str | tzinfo
"""The IANA name of a time zone, or a `zoneinfo.ZoneInfo`."""

OnUpdate: TypeAlias = Callable[[SegmentStatus], object]
"""Called with each response while waiting, the last one too. `AsyncClient` awaits a coroutine function."""

OnProgress: TypeAlias = Callable[[ScanProgress], object]
"""Called while a scan runs. An `AsyncScan` awaits what a coroutine function returns."""

PathArgument: TypeAlias = str | PathLike[str]
"""A file or folder: a path, in which `~` is the home folder, or a `file://` URL."""

Refresh: TypeAlias = Time | Days | Iterable[Time]
"""Days of a scan, or text such as "last 3 days"."""


class ClientOptions(TypedDict, total=False):
    """Arguments of a client but its address and token: what `Sandbox.client` takes."""

    timezone: str
    timeout: float | timedelta
    retry_for: float | timedelta
    retries: int | None
    concurrency: int | None
    requests_per_second: float | None
    max_response_bytes: int
    max_buffered_bytes: int
    ca_bundle: PathArgument | None
    proxy: str | None
    allow_http: bool
    headers: Mapping[str, str] | None
    item_types: Mapping[str, int] | None
    strict_empty: bool


class ClientSettings(ClientOptions, total=False):
    """Arguments of a client but its token: what `with_options` takes."""

    base_url: str | None
