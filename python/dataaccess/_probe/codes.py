"""Open points that searches of promotion codes settle. Each function returns what was found, and what was seen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from dataaccess._probe.session import EMPTY_DAY
from dataaccess._probe.shapes import NotSettledError, json_type, member
from dataaccess._probe.zone import DAY, possible_offsets, shown, shown_ranges, zone_name
from dataaccess.errors import ApiError

if TYPE_CHECKING:
    from dataaccess._probe.session import Session

# Fewer codes are in the order of their ids too easily: an order by the last digit begins so.
_LEAST_IN_ORDER = 20


def day_zone(session: Session) -> tuple[str, str]:
    """The zone in which days are cut, if only one would do."""
    rows, zone = session.rows(), session.client.timezone
    midnight = datetime.combine(session.day, datetime.min.time(), ZoneInfo(zone))
    times = [row["allocated_time"] for row in rows]
    strange = next((time for time in times if not isinstance(time, str)), "")
    if not isinstance(strange, str):
        raise NotSettledError(f"allocated_time is {json_type(strange)} in a code of the day")
    try:
        offsets = possible_offsets(times, midnight.astimezone(UTC))
    except ValueError:
        raise NotSettledError("allocated_time is not YYYY-MM-DD HH:MM:SS in a code of the day") from None
    seen = f"the codes are of {min(times)} to {max(times)} UTC"
    if not offsets:
        raise NotSettledError(f"{seen}: no offset explains that; name another day")
    # Offsets that differ by a day have the same midnights.
    if len({offset % DAY for offset in offsets}) > 1:
        raise NotSettledError(f"{seen}: any of {shown_ranges(offsets)} would do; name a busier day")
    seen += f", a day of {' or '.join(map(shown, offsets))}"
    if len(offsets) > 1:
        seen += ", which cut the same days"
    own = midnight.utcoffset()
    if own in offsets:
        return zone, seen
    name = zone_name(offsets[0], zone, session.day) if len(offsets) == 1 else None
    if name is None:
        raise NotSettledError(f"{seen}; name a zone that has it on this day: --timezone")
    return name, seen


def day_comparison(session: Session) -> tuple[str, str]:
    """Whether `after_date` finds a code of the day itself."""
    code, _, _ = session.audience()
    if code in session.codes_after():
        return "inclusive", "after_date finds a code of its day; before_date was not asked"
    return "exclusive", "after_date does not find a code of its day; before_date was not asked"


def row_order(session: Session) -> tuple[str, str]:
    """Order of the records."""
    ids = [row["id"] for row in session.rows()]
    if not all(isinstance(one, str) for one in ids):
        raise NotSettledError("the id of a code of the day is not a string")
    if len(ids) < _LEAST_IN_ORDER:
        raise NotSettledError(f"too few codes to see an order ({len(ids)}): name a busier day")
    order = "id" if ids == sorted(ids) else "reverse" if ids == sorted(ids, reverse=True) else "scattered"
    return order, f"of {len(ids):,} codes"


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


def value_type(session: Session) -> tuple[str, str]:
    """What a value_type leads to. Where one is required, no search of codes is accepted without it."""
    found = session.codes_with(value_type="normal")
    if isinstance(found, ApiError):
        return "refused", refusal(found)
    return "ignored", "accepted, as the searches without it"


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
