"""The time conditions of the options: days such as `yesterday`, months, ranges."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da

if TYPE_CHECKING:
    from dataaccess.filters import Comparison, Days, Expression

# A time of day behind a day, other than midnight.
_OF_DAY = re.compile(r"^\S{10}[Tt ](?!00:00(:00(\.0*)?)?([Zz+-]|$))")
# How long ago these days are.
_RELATIVE = {"today": 0, "yesterday": 1}


def _day_in(text: str, zone: str) -> str:
    """The day that `today` and `yesterday` are in a zone; other texts as they are."""
    ago = _RELATIVE.get(text.strip().lower())
    return text if ago is None else str(_today(zone) - timedelta(days=ago))


def _last_days(count: int, zone: str) -> tuple[str, str]:
    """The last days of a zone that are over: the first of them, and the day after the last one."""
    today = _today(zone)
    return str(today - timedelta(days=count)), str(today)


def _today(zone: str) -> date:
    from dataaccess._native import today  # loads the core

    return date.fromisoformat(today(zone))


def time_of_codes(kind: str, value: Any, zone: str) -> Comparison | Days:
    """The condition of an option of codes."""
    match kind:
        case "yesterday":
            return da.yesterday()
        case "last":
            return da.last_days(value)
        case "month":
            return da.month(value)
        case "days":
            start, stop = (_day_in(day, zone) for day in value)
            return da.days(start, stop)
    comparison: Comparison = getattr(da, kind)(_day_in(value, zone))
    return comparison


def time_of_column(kind: str, value: Any, zone: str) -> Expression:
    """The condition of an option on a column."""
    match kind:
        case "yesterday":
            return da.col(value).on(da.yesterday())
        case "days":
            (column, start), stop = value
            start, stop = (_whole(_day_in(day, zone)) for day in (start, stop))
            if len(start) == len(stop) and start >= stop:
                problem = "the range has no day: stop is excluded, so it must be a later day than start"
                raise click.UsageError(f"--days: {problem}")
        case "month":
            column, text = value
            start, stop = _month(text)
        case "last":
            column, text = value
            if not text.isdecimal() or int(text) < 1:
                raise click.UsageError(f"--last {column}={text}: write a number of days, such as {column}=30")
            start, stop = _last_days(int(text), zone)
        case _:
            column, day = value
            condition: Expression = getattr(da.col(column), kind)(_day_in(day, zone))
            return condition
    return da.col(column).since(start) & da.col(column).before(stop)


def _whole(day: str) -> str:
    """A day, which may be written as its midnight: the stop of a range is excluded, so a time of day would mislead."""
    if _OF_DAY.search(day):
        problem = f"{day} has a time of day, and days are whole: write {day[:10]}, or the day after it as STOP"
        raise click.UsageError(f"--days: {problem}, which is excluded")
    return day


def _month(text: str) -> tuple[str, str]:
    """The first day of a month, and of the month after it."""
    try:
        first = date.fromisoformat(f"{text}-01")
    except ValueError:
        raise click.UsageError(f"--month: {text!r} is not a month such as 2024-01") from None
    return str(first), str((first + timedelta(days=31)).replace(day=1))
