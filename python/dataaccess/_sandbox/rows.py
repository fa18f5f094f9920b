"""Rows of a load as JSON.

Only Python knows what its values mean, so it refuses those that JSON cannot hold, or would change. The sandbox checks
the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from itertools import islice
from json import JSONEncoder
from math import isfinite
from typing import TYPE_CHECKING, Any

from dataaccess._display.text import escaped
from dataaccess._native import record_time
from dataaccess.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataaccess._native import RawSandbox

# Rows that are encoded at once.
_BLOCK = 1_000
# Characters of a value that an error shows.
_SHOWN = 60
# What pandas calls the types of values that mean "missing".
_UNSET = {"NaTType": "NaT", "NAType": "NA"}

_encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode


class _ProblemError(Exception):
    """What is wrong with a row or a value."""


def json_rows(name: str, kinds: Mapping[str, str], zone: str, rows: Iterable[Any], own: RawSandbox | None) -> bytes:
    """The rows of an iterable of dicts as a JSON array.

    Args:
        name: Name of the business object.
        kinds: The kinds of its attributes. Another key is refused, as a misspelled one would lose its values.
        zone: The zone of times in records. Times with a zone are converted to it.
        rows: The rows. A missing key is null.
        own: The sandbox, if it is of this process. Its end ends the load.
    """
    converted = _converted(name, kinds, zone, rows, own)
    blocks = []
    while block := list(islice(converted, _BLOCK)):
        blocks.append(_encode(block)[1:-1].encode())
    return b"[%b]" % b",".join(blocks)


def _converted(
    name: str, kinds: Mapping[str, str], zone: str, rows: Iterable[Any], own: RawSandbox | None
) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(rows):
        if own is not None:
            own.check_running()
        try:
            yield _row(row, kinds, zone)
        except _ProblemError as problem:
            raise SandboxError(f"object `{name}`, row {number}: {problem}") from None


def _row(row: Any, kinds: Mapping[str, str], zone: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise _ProblemError(f"a row is a dict, not of type {type(row).__name__}")
    cells = {}
    for name, kind in kinds.items():
        if name in row:
            try:
                cells[name] = _cell(row[name], kind, zone)
            except _ProblemError as problem:
                raise _ProblemError(f"attribute `{name}`: {problem}") from None
    if len(cells) != len(row):
        key = next(key for key in row if key not in kinds)
        raise _ProblemError(f"it has no attribute `{_cut(key) if isinstance(key, str) else _shown(key)}`")
    return cells


def _cell(value: Any, kind: str, zone: str) -> Any:
    """The value as JSON holds it."""
    # Most values are these.
    if value is None or (type(value) is str and kind == "string" and value.isascii()):
        return value
    unset = "nan" if isinstance(value, float) and value != value else _UNSET.get(type(value).__name__)
    if unset is not None:
        raise _ProblemError(f"is {unset}; write None for what is unset")
    if isinstance(value, str):
        fits = kind in ("string", "datetime")
        if fits and not _is_unicode(value):
            raise _ProblemError(f"{_shown(value)} holds a lone surrogate, so it is not valid Unicode")
    elif isinstance(value, bool):
        fits = kind == "bool"
    elif isinstance(value, int | float):
        fits = kind == "number"
        if fits and isinstance(value, float) and not isfinite(value):
            raise _ProblemError(f"{_shown(value)} is not a finite number")
        if fits and isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise _ProblemError(f"{_shown(value)} is beyond 64 bits")
    else:
        fits = isinstance(value, date) and kind == "datetime"
        value = _time(value, zone) if fits else value
    return value if fits else _of_library(value, kind, zone)


def _of_library(value: Any, kind: str, zone: str) -> Any:
    """A list, or what an array or a scalar of numpy holds."""
    is_numpy = hasattr(value, "dtype")
    if kind == "list":
        plain = value.tolist() if is_numpy and hasattr(value, "tolist") else value
        if isinstance(plain, list | tuple):
            return [_element(element, zone) for element in plain]
    if is_numpy and hasattr(value, "item"):
        inner = _item(value)
        if type(inner) is not type(value):
            return _cell(inner, kind, zone)
    raise _ProblemError(f"{_shown(value)} is of type {type(value).__name__}, not a {kind}")


def _item(scalar: Any) -> Any:
    """The value of a numpy scalar. A time in units below microseconds would be an integer, so it becomes seconds."""
    if scalar.dtype.kind != "M" or scalar != scalar:
        return scalar.item()
    seconds = scalar.astype("datetime64[s]")
    if seconds != scalar:
        raise _ProblemError(f"{_shown(scalar)} is not a time in whole seconds")
    return seconds.item()


def _element(element: Any, zone: str) -> Any:
    """A string or number in a list."""
    try:
        cell = _cell(element, "string" if isinstance(element, str) else "number", zone)
    except _ProblemError:
        if isinstance(element, str | int | float) and not isinstance(element, bool):
            raise
        cell = None
    if cell is None:
        kind = type(element).__name__
        raise _ProblemError(f"{_shown(element)} in a list is of type {kind}, not a string or number")
    return cell


def _time(value: date, zone: str) -> str:
    """A date or datetime. One with a zone is converted to the zone of records."""
    if not isinstance(value, datetime):
        return f"{value.isoformat()} 00:00:00"
    if value.tzinfo is None:
        return value.isoformat(" ")
    try:
        utc = value.astimezone(UTC)
    except OverflowError:
        raise _ProblemError(f"{_shown(value)} is outside the years 1 to 9999 in UTC") from None
    return record_time(zone, utc.isoformat(" ").removesuffix("+00:00"))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: object) -> str:
    try:
        return _cut(repr(value))
    except Exception:
        return "a value"


def _cut(text: str) -> str:
    line = escaped(text)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
