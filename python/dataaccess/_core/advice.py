"""What to write in place of names that users know from other libraries: arguments, attributes and operators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dataaccess._types import PROMOTION_CODE_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLIENT = r"(Async)?Client|with_options"
_CODES = "(search|scan|validate)_codes"
_ITEMS = "(search|scan|validate)_items"
_CALLS = "(search|scan|validate)_(codes|items)"
_FRAMES = "to_.*|collect|head|batches|iter_rows|read_folder"

_CONDITIONS = "conditions are arguments: allocated_time=, code_status=, allocated_audience=, audience_type="
_ZONE = "to_pandas(tz=…) and the other methods of a scan convert times; Client(timezone=…) is the zone of days"

# Arguments that a call does not have: the name, the calls as a pattern, and what to do.
_ARGUMENTS = [
    ("api_key", _CLIENT, "it is called token="),
    ("columns", _CALLS, "it is called attrs="),
    ("compression", "to_parquet", "Parquet files are always compressed, with zstd"),
    ("decode_status", f"search_(codes|items)|scan_items|{_CLIENT}", "it is an argument of scan_codes"),
    ("filter", _ITEMS, "it is called where="),
    ("filters", _ITEMS, "it is called where="),
    ("filter", _CODES, _CONDITIONS),
    ("filters", _CODES, _CONDITIONS),
    ("where", _CODES, _CONDITIONS),
    ("logger", _CLIENT, 'log records go to logging.getLogger("dataaccess")'),
    ("resume", "to_folder", "a run always resumes"),
    ("schema", "search_(codes|items)", "it is an argument of scans"),
    ("timezone", _FRAMES, "it is called tz="),
    ("timezone", _CALLS, _ZONE),
    ("tz", _CALLS, _ZONE),
    ("tz", _CLIENT, "it is called timezone="),
    ("verify", _CLIENT, "certificates are always verified; name your own CA by ca_bundle="),
]

# What a call takes by name although users may pass it by position.
_BY_NAME = {_CLIENT: "base_url alone is given by position: write token=…, and each other setting by its name"}

_FRAME = "write to_pandas() or to_polars()"
_QUERY = "write to_lazyframe() for a query of polars, or to_pandas() for a DataFrame; {} chooses what is requested"
_NOT_AWAITED = "queries of polars do not await: use a scan of da.Client"

# Attributes that no object of a kind has.
_ROWS = {"to_df": _FRAME, "to_dataframe": _FRAME}
_SCANS = {
    "to_df": _FRAME,
    "to_dataframe": _FRAME,
    "columns": "write column_names, or schema for the types",
    "filter": _QUERY.format("a condition of the call"),
    "select": _QUERY.format("attrs= of the call"),
    "lazy": "write to_lazyframe()",
}
_ASYNC_SCANS = {
    **_SCANS,
    "filter": "use a condition of the call, or filter what `await scan.to_polars()` returns",
    "select": "use attrs= of the call, or select of what `await scan.to_polars()` returns",
    "lazy": _NOT_AWAITED,
    "to_lazyframe": f"{_NOT_AWAITED}, or `await scan.to_polars()`",
    "explain_query": _NOT_AWAITED,
}
ATTRIBUTES = {
    "Batch": _ROWS,
    "Table": _ROWS,
    "Scan": _SCANS,
    "Task": {**_SCANS, "lazy": "a task has no LazyFrame: use to_lazyframe() of its scan"},
    "AsyncScan": _ASYNC_SCANS,
    "AsyncTask": _ASYNC_SCANS,
    "Client": {
        "codes": "write search_codes(…) or scan_codes(…)",
        "items": "write search_items(…) or scan_items(…)",
        "search": "write search_codes(…) or search_items(…)",
        "scan": "write scan_codes(…) or scan_items(…)",
    },
}
ATTRIBUTES["AsyncClient"] = ATTRIBUTES["Client"]

# Operators and functions of Python that a scan refuses.
LENGTH = "a scan has no length before its rows are requested: write scan.count(), or len() of what collect() returns"
ITEM = "a scan has no rows or columns of its own: write scan.collect()[…], or scan.to_pandas()[…] for a DataFrame"
# What a task of Airflow returned, and what it returns in its place.
ROWS_TO_XCOM = (
    "a table or batch does not go to XCom, which is a database: return to_dicts() of a few rows, or write them with "
    "to_parquet(path) and return the path"
)
SCAN_TO_XCOM = (
    "a scan or task does not go to XCom: return its rows by to_dicts(), write them with to_parquet(path) and return "
    "the path, or return dataaccess.airflow.scan_requests(scan), which a mapped operator takes"
)


def advice_for(call: str, argument: str) -> str | None:
    """What to do in place of passing an argument that a call does not have; None if that is not known."""
    if re.fullmatch(_CODES, call) and argument in PROMOTION_CODE_ATTRIBUTES:
        return f"no condition of codes on {argument} is specified: request the attribute and filter the result"
    return next((advice for name, calls, advice in _ARGUMENTS if name == argument and re.fullmatch(calls, call)), None)


def by_name(call: str) -> str | None:
    """What to do where a call got too many arguments by position; None if that is not known."""
    return next((advice for calls, advice in _BY_NAME.items() if re.fullmatch(calls, call)), None)


def attribute_advice(kinds: Iterable[type], name: str) -> str | None:
    """What to write in place of an attribute that an object of these kinds does not have; None if that is not known."""
    return next((known[name] for kind in kinds if name in (known := ATTRIBUTES.get(kind.__name__, {}))), None)
