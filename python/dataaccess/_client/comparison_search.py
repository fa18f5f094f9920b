"""Whether a service includes the day that `after_date` and `before_date` name: found by which rows come.

Pure: each search is sent by the caller. `after_date` finds the codes of a day for its last instant, and `before_date`
for its first one, only if the day itself is included. A service that excludes it, or compares instants, does not find
them: these two readings need no distinction, as one setting fits both.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dataaccess._client.service_day import MOST_ROWS
from dataaccess._core.arguments import code_arguments
from dataaccess.filters import op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataaccess._client.service_day import DaySearch, ServiceDay

# The operators, in the order of their searches.
_OPERATORS = ("after_date", "before_date")
# A shorter response is not taken for one that was cut off.
_LEAST_CAP = 100


class ComparisonSearch:
    """Finds out, in two searches, whether a `day_comparison` fits the service."""

    def __init__(self, search: DaySearch, day: ServiceDay, setting: str) -> None:
        """Takes the search that found the end of the day, that day, and the `day_comparison` of the client."""
        self._audience, self._ids = search.audience, search.ids
        self._instants = (day.end - 1, day.start)
        self._setting = setting
        self._is_included: list[bool] = []
        self._problem: str | None = None
        if self._audience is None:
            self._problem = "no code of the day has an audience to search for; name another day"

    @property
    def operator(self) -> str | None:
        """The operator of the next search; None if no search is needed."""
        count = len(self._is_included)
        return None if self._problem is not None or count == len(_OPERATORS) else _OPERATORS[count]

    def arguments(self, timeout: float | None) -> dict[str, Any]:
        """The next search."""
        instant = datetime.fromtimestamp(self._instants[len(self._is_included)] / 1_000, UTC)
        kind, audience = self._audience or (None, None)
        time = op(str(self.operator), instant)
        return code_arguments(["id"], time, kind, audience, None, MOST_ROWS, timeout)

    def add(self, ids: Iterable[object]) -> None:
        """Takes the ids of the codes that the search found."""
        found = set(ids)
        is_included = not found.isdisjoint(self._ids)
        if not is_included and len(found) >= _LEAST_CAP:
            count = f"{self.operator} found {len(found):,} codes"
            self._problem = f"{count}, and more may have been cut off; name another day"
        self._is_included.append(is_included)

    @property
    def found(self) -> tuple[str, bool | None]:
        """What was found out, and whether the setting is right; None if that is not known."""
        if self._problem is not None:
            return f"not known: {self._problem}", None
        if len(self._is_included) < len(_OPERATORS):
            return "not known: there was no time for two more searches; raise timeout", None
        after, before = self._is_included
        if after != before:
            includes, excludes = _OPERATORS if after else reversed(_OPERATORS)
            said = f"{includes} includes the day that it names, and {excludes} does not: no day_comparison fits both"
            return said, False
        right = "inclusive" if after else "exclusive"
        said = f"after_date and before_date {'' if after else 'do not '}include the day that they name"
        if right == self._setting:
            return said, True
        return f'{said}: set day_comparison to "{right}"', False
