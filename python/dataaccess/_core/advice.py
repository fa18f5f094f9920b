"""Arguments that a call does not have, although users may look for them there: what to do instead."""

from __future__ import annotations

import re

from dataaccess._types import PROMOTION_CODE_ATTRIBUTES

_CLIENT = r"(Async)?Client|with_options"

# By the name of the argument: the calls that do not have it, as a pattern, and what to do.
_ADVICE = {
    "compression": ("to_parquet", "Parquet files are always compressed, with zstd"),
    "decode_status": ("search_codes", "it is an argument of scan_codes"),
    "logger": (_CLIENT, 'log records go to logging.getLogger("dataaccess")'),
    "resume": ("to_folder", "a run always resumes"),
    "schema": ("search_(codes|items)", "it is an argument of scans"),
    "timezone": ("to_.*|collect|head|batches|iter_rows|read_folder", "it is called tz="),
    "verify": (_CLIENT, "certificates are always verified; name your own CA by ca_bundle="),
}


def advice_for(call: str, argument: str) -> str | None:
    """What to do in place of passing an argument that a call does not have; None if that is not known."""
    if call in ("search_codes", "scan_codes", "validate_codes") and argument in PROMOTION_CODE_ATTRIBUTES:
        return f"the service does not filter codes by {argument}: request the attribute and filter the result"
    calls, advice = _ADVICE.get(argument, ("", ""))
    return advice if re.fullmatch(calls, call) else None
