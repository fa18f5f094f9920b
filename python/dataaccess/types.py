"""The types of arguments and results, for annotations in your own code."""

from dataaccess._client.segment import SegmentStatus
from dataaccess._types import (
    ClientOptions,
    ExportEntry,
    Refresh,
    Request,
    Row,
    Schema,
    StorageOptions,
    TimeCondition,
    TimeZone,
    Token,
    Where,
)
from dataaccess.filters import Time, Values
from dataaccess.reports import ProgressArgument

__all__ = [
    "ClientOptions",
    "ExportEntry",
    "ProgressArgument",
    "Refresh",
    "Request",
    "Row",
    "Schema",
    "SegmentStatus",
    "StorageOptions",
    "Time",
    "TimeCondition",
    "TimeZone",
    "Token",
    "Values",
    "Where",
]

for _class in (ClientOptions, ExportEntry, Request, SegmentStatus):
    _class.__module__ = __name__
