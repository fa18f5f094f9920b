"""Gets items out of a customer data platform, and the status of its segment exports, with one call.

import dataaccess as da

client = da.Client("sandbox:demo")  # the sandbox: no account, no network
rows = client.search_codes(allocated_time=da.yesterday(), code_status=["sent", "used"])

Exceptions and warnings are in `dataaccess.errors`, types for annotations in `dataaccess.types`.
"""

from importlib import import_module as _import_module

# Type checkers know the name; importing `typing` would take most of the time of this import.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from dataaccess import errors as errors
    from dataaccess import filters as filters
    from dataaccess import reports as reports
    from dataaccess import sandbox as sandbox
    from dataaccess import tokens as tokens
    from dataaccess import types as types
    from dataaccess._client.answers import CheckAnswer as CheckAnswer
    from dataaccess._client.answers import ClientCheck as ClientCheck
    from dataaccess._client.asynchronous import AsyncClient
    from dataaccess._client.client import Client
    from dataaccess._client.functions import (
        download_segment,
        scan_codes,
        scan_items,
        search_codes,
        search_items,
        validate_codes,
        validate_items,
        wait_for_segment,
    )
    from dataaccess._native import VERSION as __version__
    from dataaccess._scan.asynchronous import AsyncBatches as AsyncBatches
    from dataaccess._scan.asynchronous import AsyncScan
    from dataaccess._scan.asynchronous import AsyncTask as AsyncTask
    from dataaccess._scan.batches import Batch as Batch
    from dataaccess._scan.batches import Batches as Batches
    from dataaccess._scan.folder_status import folder_status
    from dataaccess._scan.scan import Scan
    from dataaccess._scan.scan import Task as Task
    from dataaccess._scan.table import Table
    from dataaccess._types import PROMOTION_CODE_ATTRIBUTES, AudienceType, CodeStatus
    from dataaccess.errors import *  # noqa: F403 - its __all__
    from dataaccess.filters import (
        after,
        before,
        col,
        days,
        last_days,
        month,
        on,
        op,
        since,
        until,
        yesterday,
    )
    from dataaccess.reports import ClientStats as ClientStats
    from dataaccess.reports import FileReport as FileReport
    from dataaccess.reports import FolderReport
    from dataaccess.reports import Progress as Progress
    from dataaccess.reports import ScanStats as ScanStats
    from dataaccess.reports import Setting as Setting
    from dataaccess.sandbox import Sandbox
    from dataaccess.tokens import token_file

__all__ = [
    "PROMOTION_CODE_ATTRIBUTES",
    "AsyncClient",
    "AsyncScan",
    "AudienceType",
    "Client",
    "CodeStatus",
    "FolderReport",
    "Sandbox",
    "Scan",
    "Table",
    "__version__",
    "after",
    "before",
    "col",
    "days",
    "download_segment",
    "folder_status",
    "last_days",
    "month",
    "on",
    "op",
    "scan_codes",
    "scan_items",
    "search_codes",
    "search_items",
    "since",
    "token_file",
    "until",
    "validate_codes",
    "validate_items",
    "wait_for_segment",
    "yesterday",
]

# What pages use of other modules: exceptions, warnings, and what calls pass and return.
_SHOWN = (
    "AbsentAttributeWarning",
    "ApiError",
    "ConfigError",
    "DataAccessError",
    "DataAccessWarning",
    "DoubtfulDataError",
    "EmptyResultWarning",
    "FolderError",
    "IncompleteWarning",
    "MissingIdsWarning",
    "PermissionDeniedError",
    "Progress",
    "ResponseError",
    "SandboxWarning",
    "ScanIncompleteError",
    "SegmentExportError",
    "ServerError",
    "ShrunkWarning",
    "StrayDayWarning",
    "Task",
    "ThrottledError",
    "TimezoneWarning",
    "TransportError",
    "ValidationError",
    "WaitTimeoutError",
)

# Public modules, which are loaded at their first use like the names below.
_PUBLIC = ("errors", "filters", "reports", "sandbox", "tokens", "types")

# Where each name is defined; any other is a name of `errors`. `import dataaccess` loads none of these modules.
_MODULES = {
    "_client.asynchronous": ["AsyncClient"],
    "_client.answers": ["CheckAnswer", "ClientCheck"],
    "_client.client": ["Client"],
    "_client.functions": [
        "download_segment",
        "scan_codes",
        "scan_items",
        "search_codes",
        "search_items",
        "validate_codes",
        "validate_items",
        "wait_for_segment",
    ],
    "_scan.asynchronous": ["AsyncBatches", "AsyncScan", "AsyncTask"],
    "_scan.folder_status": ["folder_status"],
    "_scan.batches": ["Batch", "Batches"],
    "_scan.scan": ["Scan", "Task"],
    "_scan.table": ["Table"],
    "filters": [
        "after",
        "before",
        "col",
        "days",
        "last_days",
        "month",
        "on",
        "op",
        "since",
        "until",
        "yesterday",
    ],
    "reports": [
        "ClientStats",
        "FileReport",
        "FolderReport",
        "Progress",
        "ScanStats",
        "Setting",
    ],
    "sandbox": ["Sandbox"],
    "tokens": ["token_file"],
    "_types": ["PROMOTION_CODE_ATTRIBUTES", "AudienceType", "CodeStatus"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Loads a public name at its first use."""
        if name in _PUBLIC:
            return _import_module(f"dataaccess.{name}")
        if name == "__version__":
            from dataaccess._native import VERSION as value
        elif name in _HOMES:
            value = getattr(_import_module(f"dataaccess.{_HOMES[name]}"), name)
        else:
            errors = _import_module("dataaccess.errors")
            if name not in errors.__all__:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            value = getattr(errors, name)
        globals()[name] = value
        return value


del TYPE_CHECKING


def __dir__() -> list[str]:
    """What users type, for tab completion. Classes that calls return or raise are in `reports` and `errors`."""
    return sorted({*__all__, *_PUBLIC, *_SHOWN})
