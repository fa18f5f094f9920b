"""What `check` finds out about a client and its service."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, TypeAlias, cast

from dataaccess import errors
from dataaccess._client.base import BaseClient
from dataaccess._client.service_day import ATTRIBUTES, MOST_ROWS, NO_CALENDAR_DAYS, DaySearch, ServiceDay, moment
from dataaccess._core.checks import invalid, seconds
from dataaccess._core.embedded import warn_of_service
from dataaccess._display import html
from dataaccess._display.text import cell
from dataaccess._public import public
from dataaccess.errors import ApiError, DataAccessError, PermissionDeniedError, RequestRejectedError, ValidationError
from dataaccess.filters import Days, Time, on, op, yesterday

# What a request is about, the method of the native client, and its arguments.
_Request: TypeAlias = tuple[str, str, tuple[Any, ...]]
# What was found out, and whether a setting is right, as far as they are known.
_Found: TypeAlias = tuple[str | None, bool | None]

_KINDS = {True: "good", False: "bad", None: "doubt"}
# A day without codes, and an export that need not exist.
_EMPTY_DAY = "1990-01-01"
_ANY_EXPORT = 1
# Seconds that a check may take. Less than the least is no time for a request.
_TIMEOUT = 30
_LEAST = 0.001
# A shorter response is not taken for one that was cut off.
_LEAST_CAP = 100


@public
@dataclass(frozen=True, slots=True, repr=False)
class ClientCheck:
    """What a client can do at its service: what `Client.check` returns. `print(check)` shows it in a few lines.

    Attributes:
        base_url: Address of the service.
        is_sandbox: Whether the data is synthetic.
        is_reachable: Whether the service responded.
        token_source: Where the token comes from: `text`, `environment`, `callable` or `the sandbox`.
        scopes: Whether the token permits `item` (searches of codes) and `download` (whatever the service calls its
            scope); None if that is not known, as where there is no such export.
        timezone: The time zone of the client.
        day: What was found out about the day, if one was given.
        is_day_right: Whether days are of `timezone`, and records of `source_timezone`; None if that is not known.
        day_comparison: The `day_comparison` of the client.
        comparison: What was found out about `after_date` and `before_date`, if a day with rows was given.
        is_comparison_right: Whether the service compares days as `day_comparison` says; None if that is not known.
        seconds: How long the check took.
        errors: What failed, by scope, `day` or `day_comparison`; at `code_value_type`, that the setting is wrong.
    """

    base_url: str
    is_sandbox: bool
    is_reachable: bool
    token_source: str
    scopes: dict[str, bool | None]
    timezone: str
    day: str | None
    is_day_right: bool | None
    day_comparison: str
    comparison: str | None
    is_comparison_right: bool | None
    seconds: float
    errors: dict[str, DataAccessError]
    # The response to the download was that there is no such export: what that says of the scope is not specified.
    _has_no_export: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether the service is reachable, did not refuse each request, and nothing is known to be wrong."""
        is_wrong = False in (self.is_day_right, self.is_comparison_right) or "code_value_type" in self.errors
        return self.is_reachable and (any(self.scopes.values()) or self._has_no_export) and not is_wrong

    def __bool__(self) -> bool:
        """As `is_ok`."""
        return self.is_ok

    def __str__(self) -> str:
        """A line for each finding."""
        address = f"{self.base_url}{' (the sandbox: synthetic data)' if self.is_sandbox else ''}"
        reached = f"reached, in {self.seconds:.2f} s" if self.is_reachable else "not reached"
        has_day = self.day is not None or "day" in self.errors
        day = self.day or ("not known" if has_day else "not checked; name a day that has rows: check(day)")
        comparison = self.comparison or ("not known" if has_day else "not checked")
        lines = [
            f"address:   {address}: {reached}",
            f"token:     from {self.token_source}: {self._accepted() or 'not tried'}",
            f"scopes:    {', '.join(f'{name}: {self._scope(name)}' for name in self.scopes)}",
            f"time zone: {self.timezone}: {day}",
            f"ranges:    {self.day_comparison}: {comparison}",
        ]
        # A token that is refused is refused by both requests, for one reason.
        reasons: dict[str, list[str]] = {}
        for name, error in self.errors.items():
            reasons.setdefault(str(error).removeprefix(f"{error.operation}: "), []).append(name)
        return "\n".join([*lines, *(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())])

    def _accepted(self) -> str | None:
        """Whether the service accepted the token, in words; None if no response says so."""
        known = [has for has in self.scopes.values() if has is not None]
        refused = "not refused" if self._has_no_export else "not accepted" if known else None
        return "accepted" if any(known) else refused

    def _scope(self, name: str) -> str:
        """What is known of a scope, in words."""
        if name == "download" and self._has_no_export:
            return "not refused"
        return {True: "yes", False: "no", None: "not known"}[self.scopes[name]]

    def _repr_html_(self) -> str:
        """The findings for notebooks."""
        kinds = {
            "address": _KINDS[self.is_reachable],
            "token": _KINDS[any(self.scopes.values()) or (None if None in self.scopes.values() else False)],
            "scopes": _KINDS[all(self.scopes.values()) or (None if any(self.scopes.values()) else False)],
            "time zone": _KINDS[self.is_day_right],
            "ranges": _KINDS[self.is_comparison_right],
        }
        lines = (line.partition(":") for line in str(self).splitlines())
        rows = [
            (name, html.Mark(cell(text.strip(), 1_000), f"{kinds.get(name, 'bad')} wide")) for name, _, text in lines
        ]
        return html.block(html.title("Check of a client", "ok" if self.is_ok else "not ok"), html.facts(rows))

    def __repr__(self) -> str:
        return f"ClientCheck({self.base_url!r}, {'ok' if self.is_ok else 'not ok'})"


class Findings:
    """Finds out what a client can do. The failure of a request is a finding."""

    def __init__(self, client: BaseClient, timeout: object) -> None:
        """Nothing is known yet. The time begins to run."""
        usual = min(client._settings["timeout"], _TIMEOUT)
        self._timeout = usual if timeout is None else seconds("timeout", timeout)
        # Sends each request once.
        self.client = client.with_options(retry_for=0, timeout=self._timeout)
        self._began = monotonic()
        self._scopes: dict[str, bool | None] = {"item": None, "download": None}
        self._errors: dict[str, DataAccessError] = {}
        self._is_reachable = self._has_no_export = self._has_tried_form = False
        self._may_ask = True
        # Of the last attempt: the rows of a search come first. None of them if it failed.
        self.response: Any = ([],)
        self._day: _Found = (None, None)
        self._comparison: _Found = (None, None)

    def steps(self, day: Time | None) -> Iterator[_Request]:
        """The requests of a check. The caller sends each as an `attempt`, before it takes the next one."""
        search = None if day is None else self._search_of(day)
        nothing = self.client._code_arguments(["id"], on(_EMPTY_DAY), limit=1)
        yield "item", "search_codes", (nothing,)
        if "item" in self._errors:
            yield from self._in_other_form(nothing)
        if (left := self._left()) is not None:
            yield "download", "download_segment", (_ANY_EXPORT, left)
        if search is not None and self._left() is not None:
            yield from self._steps_of_day(day, *search)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Notes what a request says about a scope, the day or a setting."""
        self.response = ([],)
        try:
            yield
        except DataAccessError as error:
            # A service at a wrong address may refuse the path: the search has shown whether this one is right.
            is_envelope = _is_refused(error) and isinstance(error, ApiError) and error.code is not None
            if name == "download" and is_envelope and self._scopes["item"] is not None:
                self._has_no_export = True
            else:
                self._errors[name] = error.with_traceback(None)
            if name in self._scopes:
                self._scopes[name] = False if isinstance(error, PermissionDeniedError) else None
            self._is_reachable |= not isinstance(error, errors.TransportError | errors.ConfigError)
            # A second request would wait just as long.
            self._may_ask = not isinstance(error, errors.ConnectError | errors.RequestTimeoutError)
        else:
            self._is_reachable = True
            if name in self._scopes:
                self._scopes[name] = True

    def _search_of(self, day: Time) -> tuple[dict[str, Any], int]:
        """The search of the rows of a day, and the instant that it sends."""
        if isinstance(cast("object", day), Days) and day != yesterday():
            raise invalid("day", f"{day!r} is several days: give one of them", day)
        self._day = ("not asked, as the service was not reached in time", None)
        arguments = self.client._code_arguments([*ATTRIBUTES], on(day), limit=MOST_ROWS)
        try:
            body = self.client._raw.validate_codes(arguments)
        except ValidationError as error:
            # Of the argument that the caller knows.
            problems = [problem._replace(argument="day", path="") for problem in error.problems]
            raise ValidationError(problems=problems) from None
        return arguments, body["filters"]["OR"][0]["AND"][-1]["value"]

    def _steps_of_day(self, day: object, arguments: dict[str, Any], sent: int) -> Iterator[_Request]:
        yield "day", "search_codes", ({**arguments, "timeout": self._left()},)
        if not self.response[0] and "day" not in self._errors:
            yield from self._in_other_form(arguments)
        rows = self.response[0]
        search = DaySearch(sent, rows)
        while rows and (instant := search.instant) is not None and (left := self._left()) is not None:
            yield self._request("day", search, "equals", instant, left)
            if "day" in self._errors:
                break
            search.add(row["id"] for row in self.response[0])
        if "day" in self._errors:
            self._day = (None, None)
        elif not rows:
            self._day = (f"{day} has no rows: name another day", None)
        elif search.end is None:
            reason = search.problem or "there was no time to find where the day ends; raise timeout"
            self._day = (f"not known: {reason}", None)
        else:
            found_day = ServiceDay(search.end, (row["allocated_time"] for row in rows))
            self._day = _said(found_day, f"the {len(rows):,} rows of {day}", self.client)
            self._comparison = yield from self._compared(search, found_day)

    def _request(self, name: str, search: DaySearch, operator: str, instant: datetime, timeout: float) -> _Request:
        """A search for an instant."""
        kinds, audiences = search.audience or (None, None)
        given = ["id"], op(operator, instant), kinds, audiences, None, MOST_ROWS, timeout
        return name, "search_codes", (self.client._code_arguments(*given),)

    def _compared(self, search: DaySearch, day: ServiceDay) -> Generator[_Request, None, _Found]:
        """What the two operators do with the day that they name, and whether the setting is right."""
        # They find the codes of a day for its last and its first instant only if the day is included. One setting fits
        # a service that excludes it, and one that compares instants.
        if search.audience is None:
            return "not known: no code of the day has an audience to search for; name another day", None
        is_included = []
        for operator, instant in (("after_date", day.end - 1), ("before_date", day.start)):
            if (left := self._left()) is None:
                return "not known: there was no time for two more searches; raise timeout", None
            yield self._request("day_comparison", search, operator, moment(instant), left)
            if "day_comparison" in self._errors:
                return None, None
            ids = {row["id"] for row in self.response[0]}
            is_included.append(not ids.isdisjoint(search.ids))
            if not is_included[-1] and len(ids) >= _LEAST_CAP:
                count = f"{operator} found {len(ids):,} codes"
                return f"not known: {count}, and more may have been cut off; name another day", None
        after, before = is_included
        if after != before:
            includes, excludes = ("after_date", "before_date") if after else ("before_date", "after_date")
            said = f"{includes} includes the day that it names, and {excludes} does not: no day_comparison fits both"
            return said, False
        right = "inclusive" if after else "exclusive"
        is_right = right == self.client.day_comparison
        advice = "" if is_right else f': set day_comparison to "{right}"'
        said = f"after_date and before_date {'' if after else 'do not '}include the day that they name"
        return f"{said}{advice}", is_right

    def _in_other_form(self, arguments: dict[str, Any]) -> Iterator[_Request]:
        """Repeats a search that was refused or found nothing with the other `code_value_type`, and keeps what helps."""
        usual, refusal = self.client, self._errors.get("item")
        if self._has_tried_form or not (refusal is None or _is_refused(refusal)) or self._left() is None:
            return
        self._has_tried_form, has_form = True, usual._settings["code_value_type"] is None
        self.client = usual.with_options(code_value_type="normal" if has_form else None)
        yield "other form", "search_codes", ({**arguments, "timeout": self._left()},)
        # A service that refuses the other form says nothing about the day.
        if self._errors.pop("other form", None) is not None or (refusal is None and not self.response[0]):
            self.client = usual
            return
        self._errors.pop("item", None)
        self._scopes["item"] = True
        right, wrong = ("with", "without") if has_form else ("without", "with")
        failed = "finds nothing" if refusal is None else "is refused"
        advice = 'set code_value_type="normal"' if has_form else "unset code_value_type"
        self._errors["code_value_type"] = DataAccessError(
            f"a search of codes {failed} {wrong} value_type in its conditions, and succeeds {right} it: {advice}"
        )

    def _left(self) -> float | None:
        """Seconds that are left; None if there is no time, or the service cannot be reached, to ask once more."""
        left = self._timeout - (monotonic() - self._began)
        return left if self._may_ask and left >= _LEAST else None

    def result(self) -> ClientCheck:
        """All findings."""
        warn_of_service()
        return ClientCheck(
            base_url=self.client.base_url,
            is_sandbox=self.client.is_sandbox,
            is_reachable=self._is_reachable,
            token_source=self.client._token_source,
            scopes=self._scopes,
            timezone=self.client.timezone,
            day=self._day[0],
            is_day_right=self._day[1],
            day_comparison=self.client.day_comparison,
            comparison=self._comparison[0],
            is_comparison_right=self._comparison[1],
            seconds=monotonic() - self._began,
            errors=self._errors,
            _has_no_export=self._has_no_export,
        )


def _is_refused(error: DataAccessError) -> bool:
    """Whether the service refused a request, and neither the token nor all requests."""
    return isinstance(error, RequestRejectedError) or type(error) is ApiError


def _said(found: ServiceDay, rows: str, client: BaseClient) -> _Found:
    """What is said of a day, and whether it and the times in records are as the client has them."""
    if not found.zones:
        return f"not known: no time zone begins a day at {found.end_time}: {NO_CALENDAR_DAYS}", None
    is_day = found.begins_with(client.timezone)
    if is_day and (not found.has_times or found.has_times_of(client.source_timezone)):
        return f"{rows} are of that day", True
    names = {"UTC": found.has_times_of("UTC"), "the zone of its days": found.has_own_times}
    zones = " or ".join(name for name, is_right in names.items() if is_right)
    if not found.has_times:
        times = "its rows have no times"
    elif zones:
        times = f"times in records are of {zones} (source_timezone)"
    else:
        times = f"times in records are at {found.record_offsets}: set source_timezone"
    if is_day:
        return f"{rows} are of that day, but not their times in {client.source_timezone}: {times}", False
    return f"the day of the service {found.end_shown}: set timezone to its zone; {times}", False
