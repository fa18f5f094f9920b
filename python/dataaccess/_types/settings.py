"""Settings of a client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, TypedDict
from zoneinfo import ZoneInfo

from dataaccess._types.arguments import AttrsFormat
from dataaccess._types.files import PathArgument

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
    item_types: ItemTypes | None
    attrs_format: AttrsFormat
    known_row_cap: int | None
    record: PathArgument | None


class ClientSettings(ClientOptions, total=False):
    """Arguments of a client but its token: what `with_options` takes."""

    base_url: str | None
