"""Open points that segment exports settle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._client.segment import state_of
from dataaccess._probe.codes import refusal
from dataaccess._probe.session import NotPermittedError, NotSettledError, json_type, member
from dataaccess.errors import ApiError

if TYPE_CHECKING:
    from dataaccess._probe.session import Session


def download_scope(session: Session) -> tuple[None, str]:
    """Whether the token may download. No response names a scope."""
    try:
        session.unknown_export()
    except NotPermittedError:
        if session.export_id is None:
            raise
    if session.export_id is None or isinstance(session.export(), ApiError):
        return None, "the token was not refused for an export that need not exist: name one that has ended, --export"
    return None, "the token may download: `download` allows it, or another scope of the token; ask who issued it"


def unknown_export(session: Session) -> tuple[str, str]:
    """The response to an export that does not exist."""
    try:
        found = session.unknown_export()
    except NotPermittedError:
        if session.export_id is None:
            raise
        session.export()
        seen = f"refused as if the token lacked the scope, which it has for export {session.export_id}"
        raise NotSettledError(seen) from None
    if isinstance(found, ApiError):
        if found.code is None:
            raise NotSettledError(refusal(found))
        return "not_found", refusal(found)
    entries = member(found.get("data"), "entries", "data")
    if entries != []:
        raise NotSettledError(f"a success whose entries are {json_type(entries)}")
    return "no_entries", "a success without entries"


def finished_status(session: Session) -> tuple[int, str]:
    """Status of an entry that succeeded."""
    return _status(session, "finished")


def failed_status(session: Session) -> tuple[int, str]:
    """Status of an entry that failed."""
    return _status(session, "failed")


def failed_code(session: Session) -> tuple[str, str]:
    """Code of an entry that failed: any code but 200."""
    return _code(_entry(session, "failed")), "the responseCode of an entry that has ended"


def finished_types(session: Session) -> tuple[str, str]:
    """Types of the members that are null until the end."""
    names = ("durations", "responseCode", "responseMessage")
    entry = session.entries()[0]
    types = {name: json_type(member(entry, name, "an entry")) for name in names}
    seen = ", ".join(f"{name} is {kind}" for name, kind in types.items())
    kinds = tuple(types.values())
    for value, expected in (("number", "a number"), ("string", "a string")):
        if kinds == (expected, expected, "a string"):
            return value, seen
    raise NotSettledError(seen)


def end_time_type(session: Session) -> tuple[str, str]:
    """Type of the end."""
    return _scalar_at_end(session, "endTime")


def exported_rows_type(session: Session) -> tuple[str, str]:
    """Type of the number of rows."""
    return _scalar_at_end(session, "exportedRows")


def _scalar_at_end(session: Session, name: str) -> tuple[str, str]:
    kind = json_type(member(session.entries()[0], name, "an entry"))
    seen = f"{name} is {kind} in an entry that has ended"
    if kind not in {"a string", "a number"}:
        raise NotSettledError(seen)
    return kind.removeprefix("a "), seen


def _status(session: Session, state: str) -> tuple[int, str]:
    entry = _entry(session, state)
    status = member(entry, "exportStatus", "an entry")
    if not isinstance(status, int) or isinstance(status, bool):
        raise NotSettledError(f"exportStatus is {json_type(status)}, not an integer")
    return status, f"of an entry with responseCode {_code(entry)}"


def _entry(session: Session, state: str) -> object:
    for entry in session.entries():
        _code(entry)
        if state_of(entry) == state:
            return entry
    seen = "failed" if state == "failed" else "succeeded"
    raise NotSettledError(f"no entry of export {session.export_id} has {seen}")


def _code(entry: object) -> str:
    code = member(entry, "responseCode", "an entry")
    if isinstance(code, bool) or not isinstance(code, str | int):
        raise NotSettledError(f"responseCode is {json_type(code)} in an entry that has ended")
    return str(code)
