"""The types of arguments and results; the attributes of promotion codes. `dataaccess.types` has what users write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from enum import IntEnum
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict
from zoneinfo import ZoneInfo

from dataaccess import _contract
from dataaccess._public import ClientZone, public
from dataaccess.filters import Comparison, Days, Expression, Time, Values
from dataaccess.filters._values import Scalar

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
"""Days of a scan: "all", a day, `da.days(start, stop)`, the same as text, or a list of these."""

PathArgument: TypeAlias = str | PathLike[str]
"""A file or folder: a path, in which `~` is the home folder, or a URL."""

StorageOptions: TypeAlias = Mapping[str, str]
"""Credentials and options of an object store, by the names of polars and delta-rs, such as `aws_endpoint_url`."""

Compression: TypeAlias = Literal["infer", "gzip", "zstd"]
"""How a text file is compressed; "infer" follows the ending of its name: `.gz`, `.zst` or none of these."""


class WritableFile(Protocol):
    """A file opened in binary mode, such as `sys.stdout.buffer`."""

    def write(self, data: bytes, /) -> object:
        """Writes bytes, and returns how many if it may take a part."""


FileTarget: TypeAlias = PathArgument | WritableFile
"""Where rows are written: the path of a file, or a file opened in binary mode."""

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


@public
class CodeStatus(IntEnum):
    """Status of a promotion code: what `code_status` takes, and what dicts and columns of `code_status` hold.

    Columns of names, as `decode_status=True` makes them, hold strings such as "used" instead.

    Examples:
        >>> import dataaccess as da
        >>> da.CodeStatus.USED == 4, da.CodeStatus(4).name.lower()
        (True, 'used')
    """

    AVAILABLE = _contract.AVAILABLE
    SENT = _contract.SENT
    USED = _contract.USED


@public
class AudienceType(IntEnum):
    """Kind of the holder of a promotion code: what `audience_type` takes, and what dicts and columns of it hold."""

    CUSTOMER = _contract.CUSTOMER
    VISITOR = _contract.VISITOR


CodeStatusName: TypeAlias = Literal["available", "sent", "used"]
"""The name of a status of a promotion code."""

AudienceName: TypeAlias = Literal["customer", "visitor"]
"""The name of a kind of holder."""

# Editors complete the names. Any string is accepted, as a list may be read from a file: the core checks it.
CodeStatuses: TypeAlias = (
    CodeStatusName | str | int | Scalar | Iterable[CodeStatusName | str | int | Scalar] | Comparison
)
"""One status of a promotion code, by its name, number or `CodeStatus`; several, or `da.op(…)`."""

AudienceTypes: TypeAlias = AudienceName | str | int | Scalar | Iterable[AudienceName | str | int | Scalar] | Comparison
"""One kind of holder, by its name, number or `AudienceType`; several, or `da.op(…)`."""

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

CodeAttributes: TypeAlias = CodeAttribute | str | Iterable[CodeAttribute | str]
"""Attributes of a promotion code."""


class AttributeInfo(NamedTuple):
    """What an attribute holds: its type as a column, and its meaning."""

    type: str
    meaning: str


PROMOTION_CODE_ATTRIBUTES: Mapping[CodeAttribute, AttributeInfo] = MappingProxyType(
    {
        "id": AttributeInfo("string", "identifier of the code"),
        "name": AttributeInfo("string", "name of the code"),
        "pool_id": AttributeInfo("int64", "identifier of the pool that the code belongs to"),
        "date_created": AttributeInfo("timestamp", "when the code was made"),
        "allocated_time": AttributeInfo("timestamp", "when the code was allocated to a customer or visitor"),
        "allocated_audience": AttributeInfo("string", "identifier of the customer or visitor who holds the code"),
        "audience_type": AttributeInfo("int64", "kind of that holder: -1003 customer, -1007 visitor"),
        "code_status": AttributeInfo("int64", "1 available, 3 sent, 4 used"),
        "last_used_source": AttributeInfo("string", "where the code was last used; null if it never was"),
        "last_used_time": AttributeInfo("timestamp", "when the code was last used; null if it never was"),
        "channel_id": AttributeInfo("string", "the API specification does not say; not requested by default"),
    }
)
"""The attributes of promotion codes, with their types and meanings."""

Expiry: TypeAlias = datetime | float
"""A datetime with a time zone, or Unix seconds."""

_Issued: TypeAlias = str | tuple[str, Expiry]

Token: TypeAlias = str | Callable[[], _Issued] | Callable[[], Awaitable[_Issued]]
"""A token, or a function that returns one, with or without the time at which it expires."""

DayComparison: TypeAlias = Literal["exclusive", "inclusive"]
"""Whether `after_date` and `before_date` of the service exclude or include the day that they name."""

CodeValueType: TypeAlias = Literal["normal"]
"""The `value_type` of the conditions of promotion codes: the one value that the API specification shows."""

ItemTypes: TypeAlias = Mapping[str, int | Mapping[str, Any]]
"""Names of business objects, each with its id, or with `{"id": …, "attributes": {name: type}}`."""


class ClientOptions(TypedDict, total=False):
    """Arguments of a client but its address, token and profile: what `Sandbox.client` takes."""

    timezone: str | ZoneInfo
    source_timezone: str | ZoneInfo
    day_comparison: DayComparison
    code_value_type: CodeValueType | None
    timeout: float | timedelta
    retry_for: float | timedelta
    concurrency: int | None
    requests_per_second: float | None
    max_result_bytes: int | None
    ca_bundle: PathArgument | None
    proxy: str | None
    allow_http: bool
    headers: Mapping[str, str] | None
    user_agent: str | None
    item_types: ItemTypes | None
    attrs_format: AttrsFormat
    known_row_cap: int | None
    record: PathArgument | None


class ClientSettings(ClientOptions, total=False):
    """Arguments of a client but its token: what `with_options` takes."""

    base_url: str | None


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


class Request(TypedDict):
    """A request of a scan."""

    method: str
    url: str
    body: dict[str, Any]
