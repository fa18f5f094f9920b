"""What `check` finds out about a client and its service: a few reading requests, and an answer to each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Any, Literal, TypeAlias, cast

from dataaccess import errors
from dataaccess._client.answers import FOUND_SETTINGS, CheckAnswer, ClientCheck, State, literal
from dataaccess._client.base import BaseClient
from dataaccess._client.segment import has_ended
from dataaccess._contract import CUSTOMER, VISITOR
from dataaccess._core.checks import invalid, seconds
from dataaccess._core.embedded import warn_of_service
from dataaccess._native import instant_in, start_of_day, zones_beginning_day
from dataaccess._types import AttrsFormat, CodeStatus
from dataaccess.errors import ApiError, DataAccessError, PermissionDeniedError, RequestRejectedError, ValidationError
from dataaccess.filters import Days, Time, col, on, op, yesterday

_Rows: TypeAlias = list[dict[str, Any]]

# A day without codes, an export that need not exist, and a customer who does not.
_EMPTY_DAY, _ANY_EXPORT, _NOBODY = "1990-01-01", 1, "no_such_customer"
# Whom a code is for.
_AUDIENCE = ("audience_type", "allocated_audience")
# Rows of the day that are read, at most; and what a service that ignores a condition may send.
_MOST_ROWS, _MOST_BYTES = 5_000, 64 * 1024 * 1024
# A shorter response is not taken for one that was cut off.
_LEAST_CAP = 100
# Seconds that a check without a day may take. Less than the least is no time for a request.
_TIMEOUT, _LEAST = 30, 0.001
_OF_DAY = ("timezone", "source_timezone", "day_comparison", "known_row_cap")
_FORM = "code_value_type"
_QUESTIONS = ("address", "tls", "proxy", "token", "scope item", "scope download", *FOUND_SETTINGS, "export codes")
# Why these have no answer if no step gives one.
_OPEN = {_FORM: "no search of codes was accepted", "export codes": "name an export that has ended"}
_NO_CALENDAR_DAYS = "the service may not cut calendar days"

_HOUR = 3_600_000
_DAY = 24 * _HOUR
# Zones begin their days at quarters of an hour. A day has 25 hours at most.
_STEP = _HOUR // 4
_STEPS = 25 * _HOUR // _STEP


class _OpenError(DataAccessError):
    """Why questions have no answer, where nothing failed."""


class Check:
    """Asks the questions in steps, and waits for each response or awaits it.

    A step reads what came and answers questions. What ends it before is the answer to the rest of its questions.
    """

    def __init__(
        self, client: BaseClient, day: Time | None, export_id: int | None, timeout: object, *, wait: bool
    ) -> None:
        """Nothing is known yet. The time begins to run."""
        usual = client._settings["timeout"] if day is not None else min(client._settings["timeout"], _TIMEOUT)
        self._timeout = usual if timeout is None else seconds("timeout", timeout)
        most = min(client._settings["max_result_bytes"] or _MOST_BYTES, _MOST_BYTES)
        # Sends each request once.
        self._client = client.with_options(retry_for=0, timeout=self._timeout, max_result_bytes=most)
        self._day, self._export_id, self._wait = day, export_id, wait
        self._of_day, self._sent = ({}, 0) if day is None else self._search_of(day)
        # How searches are narrowed to an audience of the day.
        self._narrow: dict[str, Any] = {}
        self._began, self._requests, self._is_reachable = monotonic(), 0, False
        self._answers = {name: CheckAnswer(name, "not found", None, _OPEN.get(name, "")) for name in _QUESTIONS}
        self._errors: dict[str, DataAccessError] = {}

    async def run(self) -> None:
        """Sends the requests. It never suspends if it waits for them."""
        await self._step(self._scope_of_codes, "scope item")
        await self._step(self._export, "scope download")
        await self._step(self._rows_of_day, *_OF_DAY)
        await self._step(self._form_of_attributes, "attrs_format")

    async def _step(self, ask: Callable[[], Awaitable[None]], *questions: str) -> None:
        try:
            self._time_left()
            await ask()
        except DataAccessError as error:
            for name in [name for name in questions if not self._answers[name].detail]:
                is_denied = isinstance(error, PermissionDeniedError) and name.startswith("scope")
                value = False if is_denied else None
                self._answer(name, "found" if is_denied else "not found", _reason(error), value, value)
                if not isinstance(error, _OpenError):
                    self._errors[name] = error.with_traceback(None)

    def _time_left(self) -> float:
        """Seconds for the next request."""
        left = round(self._timeout - (monotonic() - self._began), 3)
        if left >= _LEAST:
            return left
        is_late = self._is_reachable
        raise _OpenError("there was no time left to ask; raise timeout" if is_late else "the service was not reached")

    async def _ask(self, call: str, given: Any, client: BaseClient | None = None) -> Any:
        """Sends a request with the time that is left, and returns the response. A failure is a finding."""
        left, raw = self._time_left(), (client or self._client)._raw
        self._requests += 1
        try:
            if isinstance(given, dict):
                response = raw.search(call, {**given, "timeout": left}, wait=self._wait)
            else:
                response = raw.download_segment(given, left, wait=self._wait)
            response = response if self._wait else await response
        except DataAccessError as error:
            # Where one had to wait for a connection or a response, a second request would wait just as long.
            if isinstance(error, errors.ConnectError | errors.RequestTimeoutError):
                self._timeout = 0.0
            self._is_reachable |= not isinstance(error, errors.TransportError | errors.ConfigError)
            raise
        self._is_reachable = True
        return response

    async def _ids(self, **changed: object) -> set[str]:
        """The ids of the codes that a search finds: of the day, or as it is changed."""
        rows, _ = await self._ask("search_codes", {**self._of_day, "attrs": ["id"], **changed})
        return {str(row.get("id")) for row in rows}

    def _ids_at(self, instant: int, operator: str = "equals") -> Awaitable[set[str]]:
        """The ids of the codes of the audience that a search for an instant finds."""
        return self._ids(allocated_time=op(operator, datetime.fromtimestamp(instant / 1_000, UTC)), **self._narrow)

    def _answer(self, name: str, state: State, detail: str, value: object = None, is_right: bool | None = None) -> None:
        self._answers[name] = CheckAnswer(name, state, value, detail, is_right)

    def _answer_setting(self, name: str, value: object, seen: str) -> None:
        """Answers with the right value of a setting, and what to set if the client has another one."""
        is_right = value == self._client._settings[name]
        advice = "" if is_right else f": set {name}={literal(value)}"
        self._answer(name, "found", f"{seen}{advice}", value, is_right)

    async def _scope_of_codes(self) -> None:
        """A search that finds nothing, and the form of its conditions."""
        nothing, form = self._client._code_arguments(["id"], on(_EMPTY_DAY), limit=1), self._client._settings[_FORM]
        try:
            await self._ask("search_codes", nothing)
            self._answer(_FORM, "found", f"accepted {'with' if form else 'without'} value_type", form, True)
        except DataAccessError as refusal:
            if not _is_refused(refusal) or await self._in_other_form(nothing, "is refused") is None:
                raise
        self._answer("scope item", "found", "a search of codes was accepted", True, True)

    async def _in_other_form(self, arguments: dict[str, Any], failed: str) -> _Rows | None:
        """Repeats a search that is refused or finds nothing with the other `code_value_type`, and keeps what helps."""
        form: Literal["normal"] | None = None if self._client._settings[_FORM] else "normal"
        other = self._client.with_options(code_value_type=form)
        # Not below: an end of the time says nothing about the form.
        self._time_left()
        try:
            rows: _Rows = (await self._ask("search_codes", arguments, other))[0]
        except DataAccessError:
            return None
        if rows or failed == "is refused":
            self._client = other
            right, wrong = ("with", "without") if form else ("without", "with")
            advice = 'set code_value_type="normal"' if form else "unset code_value_type"
            seen = f"a search of codes {failed} {wrong} value_type in its conditions, and succeeds {right} it: {advice}"
            self._answer(_FORM, "found", seen, form, False)
            self._errors[_FORM] = DataAccessError(seen)
        return rows

    async def _export(self) -> None:
        """The status of an export: a scope, and the codes with which exports end."""
        asked = _ANY_EXPORT if self._export_id is None else self._export_id
        try:
            response = await self._ask("download_segment", asked)
        except ApiError as error:
            # Something on the way has no code. At a wrong address the path may be refused: the search has shown
            # whether this one is right.
            if error.code is None or not _is_refused(error) or self._answers["scope item"].state != "found":
                raise
            seen = f"export {asked} was refused, and not the token, which proves no scope: name an export that exists"
            self._answer("scope download", "reading", seen)
            return
        self._answer("scope download", "found", f"the status of export {asked} came", True, True)
        if self._export_id is None:
            return
        name, entries = "export codes", response["data"]["entries"]
        counts = Counter(str(entry.get("responseCode")) for entry in entries if has_ended(entry))
        seen = f"entries that have ended, by responseCode: {', '.join(f'{code} ({n})' for code, n in counts.items())}"
        if not counts:
            self._answer(name, "not found", f"no entry of export {asked} has ended: name another one")
        elif "200" in counts:
            self._answer(name, "found", seen, [*counts], True)
        else:
            advice = "if that is success, wait with success_codes= of these codes"
            self._answer(name, "reading", f"{seen}: none is 200; {advice}", [*counts])

    def _search_of(self, day: Time) -> tuple[dict[str, Any], int]:
        """The search of the rows of a day, and the instant that it sends."""
        if isinstance(cast("object", day), Days) and day != yesterday():
            raise invalid("day", f"{day!r} is several days: give one of them", day)
        arguments = self._client._code_arguments(["id", "allocated_time", *_AUDIENCE], on(day), limit=_MOST_ROWS)
        try:
            body = self._client._raw.validate("validate_codes", arguments)
        except ValidationError as error:
            # Of the argument that the caller knows.
            problems = [problem._replace(argument="day", path="") for problem in error.problems]
            raise ValidationError(problems=problems) from None
        return arguments, body["filters"]["OR"][0]["AND"][-1]["value"]

    async def _rows_of_day(self) -> None:
        if self._day is None:
            raise _OpenError("name a day that has many codes")
        if self._answers["scope item"].is_right is False:
            raise _OpenError("the token may not search codes")
        rows, _ = await self._ask("search_codes", self._of_day)
        if not rows and _FORM not in self._errors:
            # A service that refuses the other form says nothing about the day.
            rows = await self._in_other_form(self._of_day, "finds nothing")
        if not rows:
            raise _OpenError(f"{self._day} has no rows: name another day")
        await self._step(partial(self._end_of_day, rows), *_OF_DAY[:3])
        # The number of rows at which a response was cut off: a search by status has other codes.
        ids, count = {str(row.get("id")) for row in rows}, len(rows)
        if count >= _MOST_ROWS:
            raise _OpenError(f"the day has {count:,} codes or more: name one with fewer")
        for status in CodeStatus:
            if not ids.issuperset(await self._ids(code_status=int(status))):
                seen = f"{self._day} has more codes than the {count:,} that one search finds"
                self._answer_setting("known_row_cap", count, seen)
                return
        raise _OpenError(f"no response was cut off: the {count:,} codes of {self._day} came")

    async def _end_of_day(self, rows: _Rows) -> None:
        """When the day ends, what that shows of zones, and then the comparison."""
        by_time = sorted(rows, key=lambda row: str(row.get("allocated_time")))
        # Searches are narrowed to the audiences of the first and the last code that have one.
        named = [row for row in by_time if row.get("audience_type") in (CUSTOMER, VISITOR)]
        held = [row for row in named if isinstance(row.get("allocated_audience"), str) and row["allocated_audience"]]
        held = held[:1] + held[-1:]
        self._narrow = {name: [*dict.fromkeys(row[name] for row in held)] for name in _AUDIENCE if held}
        end, ids = await end_of_day(self._sent, self._ids_at, is_narrowed=bool(held))
        day = ServiceDay(end, (row.get("allocated_time") for row in rows), self._client.timezone)
        # One code, or codes of one time, would come together also for 24 hours from an instant.
        times = [instant_in("UTC", str(row.get("allocated_time"))) or 0 for row in held] or [0]
        self._answer_zones(day, len(rows), has_spread=all(times) and times[-1] - times[0] > _STEP)
        await self._comparison(day, ids)

    def _answer_zones(self, day: ServiceDay, rows: int, *, has_spread: bool) -> None:
        if not day.zones:
            for name in _OF_DAY[:2]:
                self._answer(name, "not found", f"no time zone begins a day at {day.ends_at}: {_NO_CALENDAR_DAYS}")
            return
        own, source, zone = self._client.timezone, self._client.source_timezone, day.zone
        seen = f"the {rows:,} rows of {self._day} are of a day that ends at {day.ends_at}: {day.zones}"
        if zone != own:
            seen += f": set timezone to {'your zone' if zone else 'one'} of these"
        if zone and not has_spread:
            seen += "; its codes are of one time, so DAY may be no calendar day: a busier day"
        self._answer("timezone", "found" if zone and has_spread else "reading", seen, zone, zone == own)
        name = "source_timezone"
        zones = [each for each in dict.fromkeys(("UTC", source, zone)) if each is not None and day.has_times_of(each)]
        seen = f"the times of the rows fit {' and '.join(zones) or 'none of these zones'}"
        if not day.times:
            self._answer(name, "not found", "the rows have no times in the usual form")
        elif len(zones) == 1 and day.is_full:
            self._answer_setting(name, zones[0], seen)
        elif source in zones:
            self._answer(name, "reading", f"{seen}; a busier day would show one", source, True)
        else:
            seen = f"{seen}: they are at {day.offsets_of_times}; set source_timezone, or name a busier day"
            self._answer(name, "reading", seen, zones[0] if len(zones) == 1 else None, False)

    async def _comparison(self, day: ServiceDay, of_day: set[str]) -> None:
        """What the two operators do with the day that they name, and whether the setting is right."""
        # They find the codes of a day for its last and its first instant only if the day is included. One setting fits
        # a service that excludes it, and one that compares instants.
        if not self._narrow:
            raise _OpenError("no code of the day has an audience to search for: name another day")
        instants, including = {"after_date": day.end - 1, "before_date": day.start}, []
        for operator, instant in instants.items():
            ids = await self._ids_at(instant, operator)
            if not ids.isdisjoint(of_day):
                including.append(operator)
            elif len(ids) >= _LEAST_CAP:
                seen = f"{operator} found {len(ids):,} codes, and more may have been cut off"
                raise _OpenError(f"{seen}: name another day")
        if len(including) == 1:
            (includes,), (excludes,) = including, instants.keys() - including
            seen = f"{includes} includes the day that it names, and {excludes} does not: no day_comparison fits both"
            self._answer("day_comparison", "found", seen, None, False)
        else:
            seen = f"after_date and before_date {'' if including else 'do not '}include the day that they name"
            self._answer_setting("day_comparison", "inclusive" if including else "exclusive", seen)

    async def _form_of_attributes(self) -> None:
        """Whether a search of a customer takes its attributes as an array or as a string."""
        name, one = "attrs_format", col("customer_id").matches([_NOBODY])
        forms: tuple[AttrsFormat, ...] = ("array", "string")
        reasons = []
        for form in forms if self._client._settings[name] == "array" else forms[::-1]:
            client = self._client.with_options(attrs_format=form)
            arguments = client._item_arguments("customer", ["customer_id", "name"], one, None, 1)
            try:
                await self._ask("search_items", arguments, client)
            except DataAccessError as error:
                is_denied = isinstance(error, PermissionDeniedError)
                reasons.append("the token may not search customers" if is_denied else _reason(error))
                if not _is_refused(error):
                    break
            else:
                self._answer_setting(name, form, "a search of a customer was accepted")
                return
        raise _OpenError("; ".join(dict.fromkeys(reasons)))

    def result(self) -> ClientCheck:
        """All answers, in the order in which they are shown."""
        warn_of_service()
        client, is_reached, took = self._client, self._is_reachable, monotonic() - self._began
        # The address, TLS, proxy and token: no request is about one of them alone.
        state: State = "found" if is_reached else "not found"
        sandbox = " (the sandbox: synthetic data)" if client.is_sandbox else ""
        seen = f"reached, in {took:.2f} s{sandbox}" if is_reached else "not reached"
        self._answer("address", state, seen, client.base_url, is_reached)
        # Where the first failure was, unless the service was reached.
        phase = getattr(next(iter(self._errors.values()), None), "phase", None)
        tls, through = (True if is_reached else False if phase == name else None for name in ("tls", "proxy"))
        if client.base_url.startswith("https:"):
            trusted = client.settings["ca_bundle"].value or "the CAs of the system"
            seen = {True: f"the certificate is trusted, by {trusted}", False: "refused", None: "not tried"}[tls]
            self._answer("tls", state, seen, is_reached or None, tls)
        else:
            self._answer("tls", "found", "none: the address begins with http:", False)
        proxy = client.settings["proxy"]
        seen, shown = (f"from {proxy.source}", str(proxy.value)) if proxy.value else ("none", None)
        self._answer("proxy", "found", seen, shown, through if proxy.value else None)
        of, scopes = f"from {client._token_source}", [self._answers[f"scope {name}"] for name in ("item", "download")]
        if any(scope.is_right or scope.state == "reading" for scope in scopes):
            self._answer("token", "found", f"{of}: accepted", True, True)
        elif all(scope.is_right is False for scope in scopes):
            seen = f"{of}: refused by both requests: it is invalid, expired, or has neither scope"
            self._answer("token", "reading", seen, None, False)
        else:
            self._answer("token", "not found", f"{of}: no request was accepted or refused for its token")
        base_url = client._settings.sandbox or client.base_url
        return ClientCheck(base_url, client.is_sandbox, is_reached, self._answers, self._errors, self._requests, took)


def _is_refused(error: DataAccessError) -> bool:
    """Whether the service refused a request, and neither the token nor all requests."""
    return isinstance(error, RequestRejectedError) or type(error) is ApiError


def _reason(error: DataAccessError) -> str:
    """Why a request failed. What may help is in the errors of a check."""
    return str(error).removeprefix(f"{error.operation}: ").removesuffix(f"; {error.hint}")


async def end_of_day(
    sent: int, ids_at: Callable[[int], Awaitable[set[str]]], *, is_narrowed: bool
) -> tuple[int, set[str]]:
    """Finds when the day of an instant ends, and the ids of its codes: of all of an audience if that is searched.

    The instant of a search moves, by bisection, until the rows of the next day come: eight searches at most.
    """
    ids = await ids_at(sent)
    if not ids:
        raise _OpenError("a search of the day for the audience of one of its codes found nothing")
    # Quarters of an hour after the instant: the day holds the first, and not the last.
    low, high = 0, _STEPS + 1
    while high - low > 1:
        middle = (low + high) // 2
        found = await ids_at(sent + middle * _STEP)
        if found.isdisjoint(ids):
            high = middle
        elif is_narrowed and found != ids:
            raise _OpenError(f"a later instant finds other codes of the same audience: {_NO_CALENDAR_DAYS}")
        else:
            low = middle
    if low == _STEPS:
        raise _OpenError("the same codes come 25 hours later: the service cuts no days")
    return sent + high * _STEP, ids


class ServiceDay:
    """A day of a service, whose end is known by which rows come: the times of its rows may be of any zone.

    Instants are Unix milliseconds.
    """

    def __init__(self, end: int, times: Iterable[object], preferred: str) -> None:
        """Reads the times as if they were in UTC, and prefers a zone if it begins a day at the end."""
        self.end, zones = end, zones_beginning_day(end)
        self.ends_at = f"{datetime.fromtimestamp(end / 1_000, UTC):%Y-%m-%d %H:%M} UTC"
        read = ((instant_in("UTC", time), time) for time in times if isinstance(time, str))
        written = sorted((instant, time) for instant, time in read if instant is not None)
        self.times = [time for _, time in written[:1] + written[-1:]]
        self.start = next(filter(None, map(self._start_in, (preferred, *zones))), end - _DAY)
        # Whether no zone an hour away has the times on this day too; and the offsets that fit the times.
        first, last = (written[0][0], written[-1][0]) if written else (end, end)
        self.is_full = last - first > end - self.start - _HOUR
        self.offsets_of_times = f"{_offset(last - end)} to {_offset(first - self.start)}"
        # Offsets and some names of the zones that begin a day at its end. Empty if there is none.
        offsets = [at for at in (-end % _DAY - _DAY, -end % _DAY) if -12 * _HOUR <= at <= 14 * _HOUR]
        names = ", ".join(zones[:3] + ["…"] * (len(zones) > 3))
        self.zones = names and f"{' or '.join(map(_offset, offsets))} ({names})"
        # A zone without clock changes. Where two offsets begin the same days, the dates of the times decide. The names
        # `Etc/GMT` have the sign of POSIX: west is positive.
        fixed = ("UTC", *(f"Etc/GMT{hours:+d}" for hours in range(-14, 13)), *zones)
        half_years = [end + days * _DAY for days in (-182, 182)]
        steady = (zone for zone in fixed if all(start_of_day(zone, at) == at for at in half_years))
        is_sure = len(offsets) == 1
        self.zone = next((zone for zone in steady if is_sure or (self.times and self.has_times_of(zone))), None)
        if self._start_in(preferred) is not None:
            self.zone = preferred

    def _start_in(self, zone: str) -> int | None:
        """When the day begins in a zone that begins the next one at its end."""
        return start_of_day(zone, self.end - 1) if start_of_day(zone, self.end) == self.end else None

    def has_times_of(self, zone: str) -> bool:
        """Whether the times of its rows are of this day, if they are written in a zone."""
        start = self._start_in(zone) or self.start
        read = [instant_in(zone, time) for time in self.times]
        return all(time is not None and start <= time < self.end for time in read)


def _offset(milliseconds: int) -> str:
    """An offset as `UTC+07:00`."""
    minutes = abs(milliseconds) // 60_000
    return f"UTC{'-' if milliseconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
