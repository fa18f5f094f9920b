"""The types of arguments and results, for annotations in your own code."""

from dataaccess.filters import Column, Comparison, Days, Expression, Scalar, Time, Value, Values
from dataaccess.types._arguments import (
    Attributes,
    AttrsFormat,
    ItemTypeName,
    OnDoubt,
    OnSuspectedCap,
    OnUpdate,
    ProgressArgument,
    Refresh,
    TimeCondition,
    ValuesOrOperator,
    Where,
)
from dataaccess.types._codes import (
    PROMOTION_CODE_ATTRIBUTES,
    AttributeInfo,
    AudienceName,
    AudienceType,
    AudienceTypes,
    CodeAttribute,
    CodeAttributes,
    CodeStatus,
    CodeStatuses,
    CodeStatusName,
)
from dataaccess.types._columns import (
    ColumnType,
    ColumnTypeAlias,
    DtypeBackend,
    Schema,
    TimeZone,
)
from dataaccess.types._files import (
    Compression,
    FileTarget,
    PathArgument,
    StorageOptions,
    WritableFile,
)
from dataaccess.types._results import (
    ExportEntry,
    Request,
    Row,
    SegmentStatus,
)
from dataaccess.types._settings import (
    ClientOptions,
    ClientSettings,
    Expiry,
    Token,
)

__all__ = [
    "PROMOTION_CODE_ATTRIBUTES",
    "AttributeInfo",
    "Attributes",
    "AttrsFormat",
    "AudienceName",
    "AudienceType",
    "AudienceTypes",
    "ClientOptions",
    "ClientSettings",
    "CodeAttribute",
    "CodeAttributes",
    "CodeStatus",
    "CodeStatusName",
    "CodeStatuses",
    "Column",
    "ColumnType",
    "ColumnTypeAlias",
    "Comparison",
    "Compression",
    "Days",
    "DtypeBackend",
    "Expiry",
    "ExportEntry",
    "Expression",
    "FileTarget",
    "ItemTypeName",
    "OnDoubt",
    "OnSuspectedCap",
    "OnUpdate",
    "PathArgument",
    "ProgressArgument",
    "Refresh",
    "Request",
    "Row",
    "Scalar",
    "Schema",
    "SegmentStatus",
    "StorageOptions",
    "Time",
    "TimeCondition",
    "TimeZone",
    "Token",
    "Value",
    "Values",
    "ValuesOrOperator",
    "Where",
    "WritableFile",
]

# The classes of the modules above belong to this one, as users import them.
for _class in (ClientOptions, ClientSettings, ExportEntry, Request, SegmentStatus, AttributeInfo, WritableFile):
    _class.__module__ = __name__
