"""Open points that searches of promotion codes settle. Each function returns what was found, and what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._client.service_day import NO_CALENDAR_DAYS
from dataaccess._probe.session import EMPTY_DAY, NotSettledError, json_type, member
from dataaccess.errors import ApiError

if TYPE_CHECKING:
    from dataaccess._probe.session import Session

# Fewer codes are in the order of their ids too easily: an order by the last digit begins so.
_LEAST_IN_ORDER = 20


def value_type(session: Session) -> tuple[str, str]:
    """Whether conditions of codes have a `value_type`. The searches that follow have one if it is required."""
    outcomes = {"without": session.nothing(None), "with": session.nothing("normal")}
    seen = ", ".join(
        f"{f'refused ({refusal(found)})' if isinstance(found, ApiError) else 'accepted'} {name} it"
        for name, found in outcomes.items()
    )
    refused = [name for name, found in outcomes.items() if isinstance(found, ApiError)]
    if len(refused) > 1:
        raise NotSettledError(seen)
    if refused == ["without"]:
        session.require("normal")
    return {"without": "required", "with": "refused"}.get("".join(refused), "optional"), seen


def day_zone(session: Session) -> tuple[str, str]:
    """The zone in which days are cut, by where the day ends. The times of its codes say nothing about it."""
    day = session.service_day()
    name = day.zone_named(session.client.timezone)
    seen = f"the day {day.end_shown}"
    if not day.zones:
        raise NotSettledError(f"no time zone begins a day at {day.end_time}: {NO_CALENDAR_DAYS}")
    if name is None:
        raise NotSettledError(f"{seen}, which cut the same days; name the zone: --timezone")
    return name, seen


def day_equals(session: Session) -> tuple[str, str]:
    """Whether `equals` finds a calendar day: the same codes for each instant, up to the end of a day of a zone."""
    day = session.service_day()
    if not day.zones:
        raise NotSettledError(f"no time zone begins a day at {day.end_time}: {NO_CALENDAR_DAYS}")
    if not session.day_search().has_spread:
        raise NotSettledError("the codes of the day that have an audience are of one time; name a busier day")
    return "day", f"the day {day.end_shown}"


def source_timezone(session: Session) -> tuple[str, str]:
    """The zone of the times in records, by the times of a day whose end is known."""
    day = session.service_day()
    times = [row["allocated_time"] for row in session.rows()]
    strange = next((time for time in times if not isinstance(time, str)), "")
    if not isinstance(strange, str):
        raise NotSettledError(f"allocated_time is {json_type(strange)} in a code of the day")
    if not day.has_times:
        raise NotSettledError("allocated_time is not YYYY-MM-DD HH:MM:SS in the codes of the day")
    source = session.client.source_timezone
    own = source if day.begins_with(source) else day.zone_named(session.client.timezone)
    fits = {zone: day.has_times_of(zone) for zone in ("UTC", source)}
    if own is not None:
        fits[own] = day.has_own_times
    zones = [zone for zone, is_fit in fits.items() if is_fit]
    seen = f"the codes are of {min(times)} to {max(times)}"
    if not zones:
        raise NotSettledError(f"{seen}: times at {day.record_offsets}")
    if len(zones) > 1:
        raise NotSettledError(f"{seen}: times of the day in {' and in '.join(zones)}; name a busier day")
    if not day.has_times_of_both_ends:
        raise NotSettledError(f"{seen}: times at {day.record_offsets}; name a busier day")
    return zones[0], f"{seen}: times of the day in {zones[0]}"


def day_comparison(session: Session) -> tuple[str, str]:
    """What `after_date` and `before_date` compare: a day that they exclude or include, or instants."""
    day = session.service_day()
    # The whole day lies on the one side of its first instant, and on the other side of its last.
    first, last = day.start, day.end - 1
    after = _compared(session, "after_date", first, last)
    before = _compared(session, "before_date", last, first)
    seen = f"after_date is {after}, before_date is {before}"
    if after != before:
        raise NotSettledError(seen)
    return after, seen


def _compared(session: Session, operator: str, near: int, far: int) -> str:
    """What an operator compares: `near` is the end of the day at which an instant would find its codes."""
    if not session.compared(operator, near):
        return "exclusive"
    return "inclusive" if session.compared(operator, far) else "instants"


def maximum_rows(session: Session) -> tuple[int, str]:
    """The number of rows at which a response of the day was cut off."""
    most = session.most_rows()
    return most, f"a search of the day has {most:,} codes, and by status more"


def row_order(session: Session) -> tuple[str, str]:
    """Order of the records."""
    ids = [row["id"] for row in session.rows()]
    if not all(isinstance(one, str) for one in ids):
        raise NotSettledError("the id of a code of the day is not a string")
    if len(ids) < _LEAST_IN_ORDER:
        raise NotSettledError(f"too few codes to see an order ({len(ids)}): name a busier day")
    seen = f"of {len(ids):,} codes"
    if ids not in (sorted(ids), sorted(ids, reverse=True)):
        raise NotSettledError(f"{seen}: not in the order of their ids")
    return "id" if ids == sorted(ids) else "reverse", seen


def last_used_type(session: Session) -> tuple[str, str]:
    """Type of the two attributes of a use."""
    types = _types(session, "last_used_source", "last_used_time")
    seen = " and ".join(f"{name} is {kind}" for name, kind in types.items())
    if not types:
        raise NotSettledError("no code of the day was used: name another day")
    found = {{"a string": "string", "an object": "object"}.get(kind) for kind in types.values()}
    if len(found) > 1 or None in found:
        raise NotSettledError(seen)
    return str(found.pop()), seen


def channel_id_type(session: Session) -> tuple[str, str]:
    """Type of a channel."""
    types = _types(session, "channel_id")
    if not types:
        raise NotSettledError("no code of the day has a channel_id: name another day")
    kind = types["channel_id"]
    value = {"a number": "number", "a string": "string"}.get(kind)
    if value is None:
        raise NotSettledError(f"channel_id is {kind}")
    return value, f"channel_id is {kind}"


def empty_shape(session: Session) -> tuple[str, str]:
    """Shape of an empty result."""
    data = session.empty().get("data")
    if not isinstance(data, dict):
        raise NotSettledError(f"data is {json_type(data)} in a search of {EMPTY_DAY}")
    seen = f"of a search of {EMPTY_DAY}"
    if "data" not in data:
        return "absent", seen
    shapes = {"an array": "array", "an object": "object", "null": "null"}
    kind = json_type(data["data"])
    if kind not in shapes:
        raise NotSettledError(f"data.data is {kind} in a search of {EMPTY_DAY}")
    if data["data"]:
        raise NotSettledError(f"the search of {EMPTY_DAY} was not empty")
    return shapes[kind], seen


def key_order(session: Session) -> tuple[str, str]:
    """Order of the members of a response."""
    envelope = session.empty()
    member(envelope, "code", "the response")
    member(envelope, "data", "the response")
    names = [*envelope]
    order = "code_first" if names.index("code") < names.index("data") else "code_last"
    return order, f"the members are {', '.join(names)}"


def operators(session: Session) -> tuple[str, str]:
    """What an operator that does not exist leads to."""
    return _undocumented(session, operator="no_such_value")


def time_unit(session: Session) -> tuple[str, str]:
    """What a unit other than DAY leads to."""
    return _undocumented(session, time_unit="MONTH")


def seconds(session: Session) -> tuple[str, str]:
    """What a time in seconds leads to."""
    return _undocumented(session, value=session.sent_instant() // 1_000)


def code_condition_type(session: Session) -> tuple[str, str]:
    """Whether conditions of codes may have a `condition_type`. The searches before this one have none."""
    value, seen = accepted(session.codes_with(condition_type="comp_attr"))
    return "refused" if value == "refused" else "optional", seen


def extend_value(session: Session) -> tuple[str, str]:
    """A time with the member that the specification shows for strings and numbers."""
    return accepted(session.codes_with(extendValue=[]))


def accepted(found: list[object] | ApiError) -> tuple[str, str]:
    """Whether a search was accepted that the specification neither shows nor forbids."""
    return ("refused", refusal(found)) if isinstance(found, ApiError) else ("accepted", f"{len(found):,} found")


def _undocumented(session: Session, **members: object) -> tuple[str, str]:
    found = session.codes_with(**members)
    if isinstance(found, ApiError):
        return "refused", refusal(found)
    if found:
        raise NotSettledError(f"accepted, and {len(found):,} codes were found: neither refused nor unmatched")
    # Without a code that could have been found, an empty result says nothing.
    session.audience()
    return "unmatched", "accepted; a code of the day was not found"


def refusal(error: ApiError) -> str:
    """Status and code of a refusal."""
    without = "without an envelope" if error.code is None else f"code {error.code}"
    return f"HTTP {error.status}, {without}"


def _types(session: Session, *names: str) -> dict[str, str]:
    """The JSON type of the first value of each attribute that any code of the day has."""
    found = {}
    for name in names:
        value = next((row[name] for row in session.rows() if row[name] is not None), None)
        if value is not None:
            found[name] = json_type(value)
    return found
