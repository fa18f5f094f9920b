"""Narrows the requests of a scan to what a query of polars reads. It knows no expressions of polars.

Narrowed requests return every row that the query selects, in the order of the scan, and maybe others: polars
applies the whole predicate to them. So what is in doubt is left as it is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from dataaccess._contract import CUSTOMER, VALUES, VALUES_PER_REQUEST
from dataaccess._core.checks import invalid
from dataaccess._types import AudienceType, CodeStatus
from dataaccess.filters import Expression, col, days, op

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataaccess._scan.selected import Selected, Value

# How far the time of a record can be from the day that found it: a day, as the service may cut its days in another zone
# than the client; 14 hours, as times may be written in any; an hour for a change of clocks. docs/open-points.md
_DOUBT = timedelta(days=2)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - columns have no zone
_MILLISECOND = timedelta(milliseconds=1)


class Clocks(NamedTuple):
    """The clocks of the client.

    Attributes:
        shown: Shows Unix milliseconds in its time zone.
        is_exact: Whether the days that a query names are days of the client: the user has said in which zones days
            are cut and records are written.
    """

    shown: Callable[[int], str]
    is_exact: bool

    def day(self, milliseconds: int) -> date:
        """The day of an instant."""
        return date.fromisoformat(self.shown(milliseconds)[:10])


class NoRowsError(Exception):
    """No row of the scan can be selected, so nothing needs to be requested."""


def narrowed(
    call: str,
    arguments: Mapping[str, Any],
    bodies: tuple[dict[str, Any], dict[str, Any]],
    clocks: Clocks,
    types: dict[str, str],
    selected: Selected,
) -> dict[str, Any]:
    """The arguments of a scan that change.

    Args:
        call: The method that made the scan.
        arguments: Those of the scan.
        bodies: Its first and its last request.
        clocks: The clocks of the client.
        types: The types of the columns.
        selected: What a query selects.

    Raises:
        NoRowsError: The scan has no such rows.
    """
    if not all(selected.values.values()):
        raise NoRowsError
    if arguments["limit"] is not None:
        # Fewer rows of the service would let others into the limit.
        return {}
    most_values = arguments.get("values_per_request") or VALUES_PER_REQUEST
    first, _ = bodies
    if call == "scan_codes":
        given, end = (_by_column(body) for body in bodies)
        return {
            **_lists(given, end, _wire_values(selected, types), most_values),
            **_times(given, end, selected, clocks),
        }
    # With every group the ids would be sent once more, up to more values than a service takes.
    is_simple = len(first["filters"]["OR"]) == 1
    if is_simple and first["itemTypeId"] == CUSTOMER and types.get("customer_id") == "string":
        return _customers(arguments["where"], selected.values.get("customer_id"), most_values)
    return {}


def check_types(types: dict[str, str], selected: Selected) -> None:
    """Refuses names of values where a column has their numbers: polars would fail once the rows are there.

    Raises:
        ValidationError: A column of integers is compared with a name.
    """
    for name, enum in (("code_status", CodeStatus), ("audience_type", AudienceType)):
        values = [value for value in selected.values.get(name, []) if isinstance(value, str)]
        if values and types.get(name) == "int64":
            member = next((each for each in enum if each.name.lower() == values[0]), None)
            use = f"da.{enum.__name__}.{'…' if member is None else member.name}"
            raise invalid(name, f"is int64 here, not {values[0]!r}: use {use}, or decode_status=True", values[0])


def _by_column(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (group,) = body["filters"]["OR"]
    return {condition["column"]: condition for condition in group["AND"]}


def _wire_values(selected: Selected, types: dict[str, str]) -> dict[str, list[Value]]:
    """The values of lists as the service has them. A column of another type than usual may show others."""
    known: dict[str, list[Value]] = {}
    for name, names in VALUES.items():
        # With `decode_status` the column has names.
        values = [names.get(str(value), value) for value in selected.values.get(name, [])]
        if values and all(isinstance(value, int) for value in values):
            known[name] = values
    if types.get("allocated_audience") == "string" and "allocated_audience" in selected.values:
        known["allocated_audience"] = selected.values["allocated_audience"]
    return known


def _lists(
    given: dict[str, dict[str, Any]],
    end: dict[str, dict[str, Any]],
    selected: dict[str, list[Value]],
    most_values: int,
) -> dict[str, list[Value]]:
    """The lists of values of promotion codes."""
    changed: dict[str, list[Value]] = {}
    for name, values in selected.items():
        condition = given.get(name)
        if condition is None:
            # What the service does with other values is not specified.
            is_known = name not in VALUES or set(values) <= set(VALUES[name].values())
            if is_known and len(values) <= most_values:
                changed[name] = values
        elif condition["operator"] == "matches" and condition["value"] == end[name]["value"]:
            # A list in several requests stays as it is: other parts would change the order of the rows.
            common = [value for value in condition["value"] if value in set(values)]
            is_number = name in VALUES
            if not common and is_number:
                raise NoRowsError
            # An id that the list has not may be in the rows too: how the service compares strings is not specified.
            if len(common) < len(condition["value"]) and (is_number or set(values) <= set(common)):
                changed[name] = common
    if "allocated_audience" not in {**given, **changed}:
        # The service returns nothing for `audience_type` alone.
        changed.pop("audience_type", None)
    return changed


def _times(
    given: dict[str, dict[str, Any]], end: dict[str, dict[str, Any]], selected: Selected, clocks: Clocks
) -> dict[str, Any]:
    """The days of promotion codes. Times of records and of requests are compared with `_DOUBT`."""
    condition, last = (of["allocated_time"] for of in (given, end))
    times = selected.times.get("allocated_time", (None, None))
    first_day, last_day = days_of = selected.days.get("allocated_time", (None, None))
    if condition.get("time_unit") != "DAY":
        return {}
    if clocks.is_exact and condition["operator"] == "equals":
        return _exact_days(condition["value"], last["value"], times, days_of, clocks)
    leasts = [times[0], None if first_day is None else datetime.combine(first_day, time())]
    mosts = [times[1], None if last_day is None else datetime.combine(last_day, time.max)]
    least = max((_since_epoch(bound) for bound in leasts if bound), default=None)
    most = min((_since_epoch(bound) for bound in mosts if bound), default=None)
    match condition["operator"]:
        case "after_date" if least is not None:
            after = (least - _DOUBT) // _MILLISECOND
            return {"allocated_time": op("after_date", _instant(after))} if after > condition["value"] else {}
        case "before_date" if most is not None:
            before = -((-most - _DOUBT) // _MILLISECOND)
            return {"allocated_time": op("before_date", _instant(before))} if before < condition["value"] else {}
        case "equals":
            return _days(condition["value"], last["value"], least, most, clocks)
    return {}


def _exact_days(
    first: int,
    last: int,
    times: tuple[datetime | None, datetime | None],
    days_of: tuple[date | None, date | None],
    clocks: Clocks,
) -> dict[str, Any]:
    """The days of a range, given as the instants of the first and the last, that are or have times in these bounds."""
    start, stop = clocks.day(first), clocks.day(last)
    of_times = (None if bound is None else clocks.day(_since_epoch(bound) // _MILLISECOND) for bound in times)
    leasts, mosts = zip((start, stop), of_times, days_of, strict=True)
    least, most = max(day for day in leasts if day), min(day for day in mosts if day)
    if least > most:
        raise NoRowsError
    return {} if (least, most) == (start, stop) else {"allocated_time": days(least, most + timedelta(days=1))}


def _days(first: int, last: int, least: timedelta | None, most: timedelta | None, clocks: Clocks) -> dict[str, Any]:
    """The days of a range, given as the instants of the first and the last, that can have rows in these bounds."""
    start, stop = clocks.day(first), clocks.day(last)
    shift = first * _MILLISECOND - _midnight(start)
    count = (stop - start).days + 1
    kept = [
        day
        for day in (start + timedelta(days=number) for number in range(count))
        if (least is None or _midnight(day) + shift + _DOUBT > least)
        and (most is None or _midnight(day) + shift - _DOUBT < most)
    ]
    if not kept:
        raise NoRowsError
    return {"allocated_time": days(kept[0], kept[-1] + timedelta(days=1))} if len(kept) < count else {}


def _midnight(day: date) -> timedelta:
    """The midnight of a day in UTC, since the epoch."""
    return day - _EPOCH.date()


def _since_epoch(instant: datetime) -> timedelta:
    """A time since the epoch; one without a zone is UTC. Timedeltas have room beyond the ends of the calendar."""
    return instant.replace(tzinfo=None) - _EPOCH - (instant.utcoffset() or timedelta())


def _instant(milliseconds: int) -> datetime:
    """A time in UTC: the check of user input refuses some numbers of milliseconds."""
    return _EPOCH.replace(tzinfo=UTC) + milliseconds * _MILLISECOND


def _customers(where: object, values: list[Value] | None, most_values: int) -> dict[str, Any]:
    """Ids of customers: of no other attribute of such objects it is specified how the service compares it."""
    if not values or len(values) > most_values or not (where is None or isinstance(where, Expression)):
        return {}
    known = col("customer_id").matches(values)
    return {"where": known if where is None else where & known}
