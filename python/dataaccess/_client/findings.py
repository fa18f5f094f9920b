"""What `check` finds out about a client: each request is an attempt whose failure is a finding."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from dataaccess._client.check import ClientCheck
from dataaccess._client.comparison_search import ComparisonSearch
from dataaccess._client.service_day import ATTRIBUTES, MOST_ROWS, NO_CALENDAR_DAYS, DaySearch, ServiceDay
from dataaccess._core.arguments import code_arguments
from dataaccess._core.checks import invalid, seconds
from dataaccess._core.embedded import warn_of_service
from dataaccess.errors import (
    ApiError,
    ConfigError,
    ConnectError,
    DataAccessError,
    PermissionDeniedError,
    RequestRejectedError,
    RequestTimeoutError,
    TransportError,
    ValidationError,
)
from dataaccess.filters import Days, on, yesterday

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from dataaccess._client.base import BaseClient
    from dataaccess._types import Row
    from dataaccess.filters import Time

# A day without codes, and an export that need not exist.
_EMPTY_DAY = "1990-01-01"
_ANY_EXPORT = 1

# A method of the native client, and its arguments.
_Request: TypeAlias = tuple[str, tuple[Any, ...]]

# Seconds that a check may take.
_TIMEOUT = 30
# Less is no time for a request.
_LEAST = 0.001


class Findings:
    """The findings so far, and the native client that sends each request once."""

    def __init__(self, client: BaseClient, timeout: object) -> None:
        """Nothing is known yet. The time begins to run."""
        usual = min(client._settings["timeout"], _TIMEOUT)
        self._timeout = usual if timeout is None else seconds("timeout", timeout)
        self._use(client.with_options(retry_for=0, timeout=self._timeout))
        self.scopes: dict[str, bool | None] = {"item": None, "download": None}
        self._began = monotonic()
        self.errors: dict[str, DataAccessError] = {}
        self._is_reachable = False
        self._has_no_export = False
        self._may_ask = True
        # The client before `try_other_form`, what `item` had failed of, and the outcome.
        self._usual: BaseClient | None = None
        self._refusal: DataAccessError | None = None
        self._day: tuple[str | None, bool | None] = (None, None)
        self._comparison: tuple[str | None, bool | None] = (None, None)
        # The instant that the search of the day sends, in Unix milliseconds, and its rows.
        self._sent = 0
        self._rows: list[Row] = []
        self._search: DaySearch | None = None

    def steps(self, day: Time | None) -> Generator[_Request | None, Any, None]:
        """The requests of a check, each after the response to the one before, or its error; None at the end.

        Raises:
            ValidationError: `day` is not a day.
        """
        if day is not None:
            # Before anything is sent.
            self.rows_of(day)
        nothing = code_arguments(["id"], on(_EMPTY_DAY), None, None, None, 1)
        with self.of("item"):
            yield "search_codes", (nothing,)
        if "item" in self.errors and self.try_other_form():
            with self.of("item"):
                yield "search_codes", (nothing,)
            self.settle_form(is_better="item" not in self.errors)
        if (left := self.left()) is not None:
            with self.of("download"):
                yield "download_segment", (_ANY_EXPORT, left)
        if day is not None and (left := self.left()) is not None:
            with self.of("day"):
                yield from self._steps_of_day(day, left)
        if (comparison := self._comparison_search()) is not None:
            with self.of("day_comparison"):
                while comparison.operator is not None and (left := self.left()) is not None:
                    found, _ = yield "search_codes", (comparison.arguments(left),)
                    comparison.add(row["id"] for row in found)
                self._comparison = comparison.found
        yield None

    def _steps_of_day(self, day: Time, left: float) -> Generator[_Request, Any, None]:
        rows, _ = yield "search_codes", (self.rows_of(day, left),)
        if not rows and self.try_other_form():
            # A service that refuses the other form says nothing about this day.
            with self.of("other form"):
                rows, _ = yield "search_codes", (self.rows_of(day, self.left()),)
            self.settle_form(is_better=bool(rows))
        search = self._search_of(rows)
        while rows and (instant := search.instant) is not None and (time := self.left()) is not None:
            found, _ = yield "search_codes", (search.arguments(instant, time),)
            search.add(row["id"] for row in found)
        self._add_day(day, search)

    def left(self) -> float | None:
        """Seconds that are left; None if there is no time, or the service cannot be reached, to ask once more."""
        left = self._timeout - (monotonic() - self._began)
        return left if self._may_ask and left >= _LEAST else None

    def rows_of(self, day: Time, timeout: float | None = None) -> dict[str, Any]:
        """The search of the rows of a day.

        Raises:
            ValidationError: It is not a day.
        """
        if isinstance(cast("object", day), Days) and day != yesterday():
            raise invalid("day", f"{day!r} is several days: give one of them", day)
        self._day = ("not asked, as the service was not reached in time", None)
        arguments = code_arguments([*ATTRIBUTES], on(day), None, None, None, MOST_ROWS, timeout)
        try:
            body = self.raw.validate_codes(arguments)
        except ValidationError as error:
            # Of the argument that the caller knows.
            problems = [problem._replace(argument="day", path="") for problem in error.problems]
        else:
            self._sent = body["filters"]["OR"][0]["AND"][-1]["value"]
            return arguments
        raise ValidationError(problems=problems)

    def try_other_form(self) -> bool:
        """Whether to repeat the last search with the other `code_value_type`, as it was refused or found nothing."""
        refusal = self.errors.get("item")
        if self._usual is not None or not (refusal is None or _is_refused(refusal)) or self.left() is None:
            return False
        self._usual, self._refusal = self._client, self.errors.pop("item", None)
        usual = self._client._setting("code_value_type")
        self._use(self._client.with_options(code_value_type=None if usual else "normal"))
        return True

    def settle_form(self, *, is_better: bool) -> None:
        """Keeps the other `code_value_type` if the service takes the search with it, else the one of the client."""
        self.errors.pop("other form", None)
        if self._usual is None:
            return
        if is_better:
            has_form = self._usual._setting("code_value_type") is not None
            usual, other = ("with", "without") if has_form else ("without", "with")
            setting = "code_value_type" if has_form else 'code_value_type="normal"'
            failed = "finds nothing" if self._refusal is None else "is refused"
            self.errors["code_value_type"] = DataAccessError(
                f"a search of codes {failed} {usual} value_type in its conditions, and succeeds {other} it: "
                f"{'unset' if has_form else 'set'} {setting}"
            )
        else:
            self._use(self._usual)
            if self._refusal is not None:
                self.errors["item"], self.scopes["item"] = self._refusal, None

    def _use(self, client: BaseClient) -> None:
        self._client, self.raw = client, client._raw

    def _search_of(self, rows: list[Row]) -> DaySearch:
        """Finds the end of the day that has these rows. Without rows there is none."""
        self._rows, self._search = rows, DaySearch(self._sent, rows)
        return self._search

    def _add_day(self, day: object, search: DaySearch) -> None:
        """Notes what the rows of a day show, and the end of that day."""
        count = len(self._rows)
        if count == 0:
            self._day = (f"{day} has no rows: name another day", None)
        elif search.end is None:
            reason = search.problem or "there was no time to find where the day ends; raise timeout"
            self._day = (f"not known: {reason}", None)
        else:
            found = ServiceDay(search.end, (row["allocated_time"] for row in self._rows))
            if not found.zones:
                self._day = (f"not known: no time zone begins a day at {found.end_time}: {NO_CALENDAR_DAYS}", None)
                return
            text, is_right = _said(found, f"the {count:,} rows of {day}", self._client)
            self._day = (text, is_right)

    def _comparison_search(self) -> ComparisonSearch | None:
        """Finds what the service compares, by a day whose end is known."""
        search = self._search
        if search is None or search.end is None:
            return None
        return ComparisonSearch(search, ServiceDay(search.end, ()), self._client.day_comparison)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Notes what a request says about a scope."""
        try:
            yield
        except ValidationError:
            raise
        except DataAccessError as error:
            if name in self.scopes:
                self.scopes[name] = False if isinstance(error, PermissionDeniedError) else None
            if name == "download" and self._is_missing(error):
                self._has_no_export = True
            else:
                self.errors[name] = error.with_traceback(None)
            self._is_reachable |= not isinstance(error, TransportError | ConfigError)
            # A second request would wait just as long.
            self._may_ask = not isinstance(error, ConnectError | RequestTimeoutError)
            if name == "day":
                self._day = (None, None)
        else:
            self._is_reachable = True
            if name in self.scopes:
                self.scopes[name] = True

    def result(self) -> ClientCheck:
        """All findings."""
        warn_of_service()
        client = self._client
        day, is_day_right = self._day
        comparison, is_comparison_right = self._comparison
        return ClientCheck(
            base_url=client.base_url,
            is_sandbox=client.is_sandbox,
            is_reachable=self._is_reachable,
            token_source=client._token_source,
            scopes=self.scopes,
            timezone=client.timezone,
            day=day,
            is_day_right=is_day_right,
            day_comparison=client.day_comparison,
            comparison=comparison,
            is_comparison_right=is_comparison_right,
            seconds=monotonic() - self._began,
            errors=self.errors,
            _has_no_export=self._has_no_export,
        )

    def _is_missing(self, error: DataAccessError) -> bool:
        """Whether the service says in an envelope that there is no such export.

        A service at a wrong address may say so of the path: the search has shown whether this one is right.
        """
        is_envelope = _is_refused(error) and isinstance(error, ApiError) and error.code is not None
        return is_envelope and self.scopes["item"] is not None


def _is_refused(error: DataAccessError) -> bool:
    """Whether the service refused a request, and neither the token nor all requests."""
    return isinstance(error, RequestRejectedError) or type(error) is ApiError


def _said(found: ServiceDay, rows: str, client: BaseClient) -> tuple[str, bool]:
    """What is said of a day, and whether it and the times in records are as the client has them."""
    source = client.source_timezone
    if not found.begins_with(client.timezone):
        zone = f"the day of the service {found.end_shown}: set timezone to its zone"
        return f"{zone}; {_times_said(found)}", False
    if found.has_times and not found.has_times_of(source):
        return f"{rows} are of that day, but not their times in {source}: {_times_said(found)}", False
    return f"{rows} are of that day", True


def _times_said(found: ServiceDay) -> str:
    """The zone of the times in records, as far as they show it."""
    if not found.has_times:
        return "its rows have no times"
    zones = [
        *(["UTC"] if found.has_times_of("UTC") else []),
        *(["the zone of its days"] if found.has_own_times else []),
    ]
    if not zones:
        return f"times in records are at {found.record_offsets}: set source_timezone"
    return f"times in records are of {' or '.join(zones)} (source_timezone)"
