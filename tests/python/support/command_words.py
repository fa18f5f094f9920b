"""Words of Python that no message of the command has."""

from __future__ import annotations

import re
from inspect import signature

import dataaccess as da

_CALLS = (
    da.Client,
    da.Client.scan_codes,
    da.Client.scan_items,
    da.Client.wait_for_segment,
    da.Scan.to_folder,
    da.Scan.to_csv,
)
# Columns are named as `--after allocated_time=2024-01-01`.
_NAMES = {name for call in _CALLS for name in signature(call).parameters} - {"self", "allocated_time"}
_CALL = r"\b(search|scan|validate|download|wait_for)_(codes|items|segment):"
_PYTHON = re.compile(rf"\b({'|'.join(sorted(_NAMES))})=|\bda\.|dataaccess\.\w|\bcol\(|\bto_[a-z]+|{_CALL}|Traceback")


def python_in(text: str) -> list[str]:
    """The words of Python in a message."""
    return [found[0] for found in _PYTHON.finditer(text.replace("/dataaccess.", ""))]
