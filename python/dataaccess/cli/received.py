"""The requests that a sandbox received, as they end: in lines for people."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dataaccess._display.text import cell, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Characters of the path, and of what was asked.
_PATH = 60
_ASKED = 100
_DAY_SECONDS = 86_400


class EndedRequests:
    """The requests whose response has ended since the last call, oldest first."""

    def __init__(self, call: Callable[[str, str], Any]) -> None:
        """Begins with the oldest request of the log. `call` sends a method and a route to the sandbox."""
        self._call = call
        self._after = 0
        # Of the requests behind `after`, those that were returned.
        self._returned: set[int] = set()

    def __call__(self) -> list[dict[str, Any]]:
        """The requests as the control routes describe them."""
        found = self._call("GET", f"/requests?after={self._after}")
        running = [one["number"] for one in found["requests"] if one["duration_ms"] is None]
        known = {*running, *self._returned}
        ended = [one for one in found["requests"] if one["number"] not in known]
        # A request in flight is looked at again.
        self._after = min(running) - 1 if running else found["next"]
        self._returned.update(one["number"] for one in ended)
        self._returned = {number for number in self._returned if number > self._after}
        return ended


def request_line(request: Mapping[str, Any]) -> str:
    """A request in one line: method and path, what was asked, the response, its fault, and why it was refused."""
    asked = ", ".join(_asked(request["body"]))
    parts = [request["method"], cell(request["path"], _PATH), *([cell(asked, _ASKED)] if asked else []), "->"]
    # Without a status the connection ended before a response, as by a fault.
    parts.append("no response" if request["status"] is None else str(request["status"]))
    if request["bytes"] is not None:
        parts.append(size(request["bytes"]))
    if request["duration_ms"] is not None:
        parts.append(f"{request['duration_ms']:.1f} ms")
    if request["fault"] is not None:
        parts.append(f"(fault {cell(request['fault'])})")
    if request["message"] is not None:
        parts.append(cell(request["message"], _ASKED))
    return " ".join(parts)


def _asked(body: object) -> Iterator[str]:
    """The object of a search and its conditions, or the export of a download. Of values it has the days alone."""
    try:
        content = json.loads(body) if isinstance(body, str) else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return
    if "itemTypeName" in content:
        yield str(content["itemTypeName"])
    if "exportId" in content:
        yield f"export {content['exportId']}"
    for condition in [each for group in _listed(content.get("filters"), "OR") for each in _listed(group, "AND")]:
        if isinstance(condition, dict):
            value = condition.get("value")
            shown = f"[{len(value)}]" if isinstance(value, list) else "…"
            shown = _time(value) if condition.get("data_type") == "datetime" else shown
            yield f"{condition.get('column')} {condition.get('operator')} {shown}"


def _listed(content: object, name: str) -> list[Any]:
    found = content.get(name) if isinstance(content, dict) else None
    return found if isinstance(found, list) else []


def _time(value: object) -> str:
    """A day, or a time in UTC."""
    try:
        time = datetime.fromtimestamp(value / 1000, UTC)  # type: ignore[operator] # anything else is an error here
    except (TypeError, ValueError, OverflowError, OSError):
        return str(value)
    return f"{time:%Y-%m-%d}" if time.timestamp() % _DAY_SECONDS == 0 else f"{time:%Y-%m-%dT%H:%M:%SZ}"
