"""Lazy queries of polars on a scan of promotion codes, and the requests that they cause."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl

import dataaccess as da

STATUS, TIME, WHO = pl.col("code_status"), pl.col("allocated_time"), pl.col("allocated_audience")
ENGINES: list[Any] = ["in-memory", "streaming"]


def bodies(sandbox: da.Sandbox, query: pl.LazyFrame) -> list[dict[str, Any]]:
    """The requests of a query."""
    sandbox.clear_requests()
    query.collect()
    return [request.body for request in sandbox.requests]


def conditions_of(body: dict[str, Any]) -> dict[str, Any]:
    """The values of a request by column, and its operator for times."""
    (group,) = body["filters"]["OR"]
    values = {each["column"]: each["value"] for each in group["AND"] if each["data_type"] != "datetime"}
    return values | {each["operator"]: each["value"] for each in group["AND"] if each["data_type"] == "datetime"}


def millis(text: str) -> int:
    """Unix milliseconds of a time in UTC."""
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def codes(sandbox: da.Sandbox, **options: Any) -> pl.LazyFrame:
    """A lazy frame of the codes of a month."""
    options.setdefault("allocated_time", da.since("2024-01-01"))
    return sandbox.client().scan_codes(**options).to_lazyframe()
