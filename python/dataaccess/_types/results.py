"""Rows, requests and responses, as plain objects."""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

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
