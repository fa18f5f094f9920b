"""What `check` finds out about a client and its service: a few reading requests, and an answer to each question."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from time import monotonic
from typing import Any, Literal, TypeAlias, cast

from dataaccess import errors
from dataaccess._client.base import BaseClient
from dataaccess._client.segment import has_ended
from dataaccess._client.service_day import ATTRIBUTES, MOST_ROWS, NO_CALENDAR_DAYS, DaySearch, ServiceDay, moment
from dataaccess._contract import CUSTOMER
from dataaccess._core.checks import invalid, seconds
from dataaccess._core.embedded import warn_of_service
from dataaccess._display import html
from dataaccess._display.text import cell
from dataaccess._public import public
from dataaccess._types import AttrsFormat, CodeStatus
from dataaccess.errors import ApiError, DataAccessError, PermissionDeniedError, RequestRejectedError, ValidationError
from dataaccess.filters import Days, Time, col, on, op, yesterday

# A client, the method of its native client, and the arguments.
_Request: TypeAlias = tuple[BaseClient, str, tuple[Any, ...]]
_Rows: TypeAlias = list[dict[str, Any]]
State: TypeAlias = Literal["found", "reading", "not found"]

# A day without codes, an export that need not exist, and a customer who does not.
_EMPTY_DAY = "1990-01-01"
_ANY_EXPORT = 1
_NOBODY = "no_such_customer"
# Seconds that a check without a day may take. Less than the least is no time for a request.
_TIMEOUT = 30
_LEAST = 0.001
# A shorter response is not taken for one that was cut off.
_LEAST_CAP = 100
# What a service that ignores a condition may send.
_MOST_BYTES = 64 * 1024 * 1024
_OF_DAY = ("timezone", "source_timezone", "day_comparison", "known_row_cap")
_SETTINGS = (*_OF_DAY, "attrs_format", "code_value_type")
_QUESTIONS = ("address", "tls", "proxy", "token", "scope item", "scope download", *_SETTINGS, "export codes")
# Why a question has no answer, where it is neither time nor the connection.
_OPEN = {
    "scope download": "not asked",
    "code_value_type": "no search of codes was accepted",
    "export codes": "name an export that has ended",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@public
@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """The answer of `Client.check` to one question.

    Attributes:
        question: `address`, `tls`, `proxy`, `token`, `scope item`, `scope download`, `export codes`, or the setting
            that it is about.
        state: `found`: requests show it. `reading`: the likeliest meaning of what was seen. `not found`.
        value: What was found; None if it is not known.
        detail: What was seen, or why it was not found and what would help.
        is_right: Whether the client has it so; None if that is not known.
    """

    question: str
    state: State
    value: Any
    detail: str
    is_right: bool | None = None

    def __str__(self) -> str:
        """The answer in a line."""
        mark = "✗" if self.is_right is False else {"found": "✓", "reading": "~", "not found": "?"}[self.state]
        value = "" if self.value is None or isinstance(self.value, bool) else f"{_shown(self.value)}: "
        return f"{mark} {self.question:15}  {value}{self.state + ': ' if self.state != 'found' else ''}{self.detail}"


@public
@dataclass(frozen=True, slots=True, repr=False)
class ClientCheck:
    """What a client can do at its service: what `Client.check` returns. `print(check)` shows it, a line an answer.

    Attributes:
        base_url: Address of the service.
        is_sandbox: Whether the data is synthetic.
        is_reachable: Whether the service responded.
        answers: The answers by question, in the order in which they are shown.
        errors: What failed, by question.
        requests: How many requests were sent. They only read.
        seconds: How long the check took.
    """

    base_url: str
    is_sandbox: bool
    is_reachable: bool
    answers: dict[str, CheckAnswer]
    errors: dict[str, DataAccessError]
    requests: int
    seconds: float

    @property
    def is_ok(self) -> bool:
        """Whether the service is reachable, did not refuse each request, and nothing is known to be wrong."""
        is_usable = any(self.answers[f"scope {name}"].is_right is not False for name in ("item", "download"))
        is_wrong = any(answer.is_right is False for name, answer in self.answers.items() if name in _SETTINGS)
        return self.is_reachable and self.answers["token"].is_right is True and is_usable and not is_wrong

    @property
    def scopes(self) -> dict[str, bool | None]:
        """Whether the token permits `item` (searches of codes) and `download`; None if that is not known."""
        return {name: self.answers[f"scope {name}"].value for name in ("item", "download")}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were found: arguments of `Client`, and lines of a profile."""
        return {name: value for name in _SETTINGS if (value := self.answers[name].value) is not None}

    def to_toml(self) -> str:
        """Writes the settings as lines of a profile, each with what was seen.

        Returns:
            TOML.

        Examples:
            >>> import dataaccess as da
            >>> print(da.Client("sandbox:demo").check().to_toml(), end="")
            attrs_format = "array"  # a search of a customer was accepted
        """
        pairs = ((name, value, self.answers[name].detail) for name, value in self.settings.items())
        return "".join(_escaped(f"{name} = {_shown(value)}  # {detail}") + "\n" for name, value, detail in pairs)

    def to_code(self) -> str:
        """Writes the settings as a call of `Client`.

        Returns:
            An expression of Python.

        Examples:
            >>> import dataaccess as da
            >>> da.Client("sandbox:demo").check().to_code()
            'da.Client("sandbox:demo", attrs_format="array")'
        """
        arguments = [_shown(self.base_url), *(f"{name}={_shown(value)}" for name, value in self.settings.items())]
        return _escaped(f"da.Client({', '.join(arguments)})")

    def to_dict(self) -> dict[str, Any]:
        """Returns everything for `json.dumps`.

        Returns:
            The attributes, the settings, and the answers as dicts.

        Examples:
            >>> import dataaccess as da
            >>> da.Client("sandbox:demo").check().to_dict()["is_ok"]
            True
        """
        return {
            "base_url": self.base_url,
            "is_ok": self.is_ok,
            "is_sandbox": self.is_sandbox,
            "is_reachable": self.is_reachable,
            "requests": self.requests,
            "seconds": self.seconds,
            "settings": self.settings,
            "answers": [asdict(answer) for answer in self.answers.values()],
            "errors": {name: str(error) for name, error in self.errors.items()},
        }

    def __bool__(self) -> bool:
        """As `is_ok`."""
        return self.is_ok

    def __str__(self) -> str:
        """A line for each answer."""
        return "\n".join(cell(str(answer), 1_000) for answer in self.answers.values())

    def _repr_html_(self) -> str:
        """The answers for notebooks."""
        kinds = {True: "good", False: "bad", None: "doubt"}
        rows = []
        for name, answer in self.answers.items():
            text = cell(str(answer)[len(f"✓ {name:15}  ") :], 1_000)
            rows.append((name, html.Mark(text, f"{kinds[answer.is_right]} wide")))
        return html.block(html.title("Check of a client", "ok" if self.is_ok else "not ok"), html.facts(rows))

    def __repr__(self) -> str:
        return f"ClientCheck({self.base_url!r}, {'ok' if self.is_ok else 'not ok'})"


def _shown(value: object) -> str:
    """A text or number, or a list of them, as JSON, TOML and Python write it."""
    return json.dumps(value, ensure_ascii=False)


def _escaped(text: str) -> str:
    """A text on one line, also where a terminal or TOML would obey a character."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04X}", text)


class _Unanswered(Exception):
    """There is no time to send a request, or it failed."""


class Check:
    """Asks the questions. The caller sends each of `requests` as an `attempt`, before it takes the next one."""

    def __init__(self, client: BaseClient, day: Time | None, export_id: int | None, timeout: object) -> None:
        """Nothing is known yet. The time begins to run."""
        usual = client._settings["timeout"] if day is not None else min(client._settings["timeout"], _TIMEOUT)
        self._timeout = usual if timeout is None else seconds("timeout", timeout)
        most = min(client._settings["max_result_bytes"] or _MOST_BYTES, _MOST_BYTES)
        # Sends each request once.
        self.client = client.with_options(retry_for=0, timeout=self._timeout, max_result_bytes=most)
        self._day, self._export_id, self._customer = day, export_id, _NOBODY
        self._search = None if day is None else self._search_of(day)
        self._began, self._requests = monotonic(), 0
        self._answers: dict[str, CheckAnswer] = {}
        self._errors: dict[str, DataAccessError] = {}
        self._is_reachable, self._may_ask, self._has_tried_form = False, True, False
        # Of the last request.
        self.response: Any = None
        self._failure: DataAccessError | None = None

    def requests(self) -> Iterator[_Request]:
        """The requests of a check."""
        yield from self._step(self._scope_of_codes(), "scope item")
        yield from self._step(self._export(), "scope download")
        if self._search is not None and self._is_right("scope item") is not False:
            yield from self._step(self._rows_of_day(*self._search), *_OF_DAY)
        yield from self._step(self._form_of_attributes())

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Notes what became of a request. Its failure is a finding."""
        self._requests += 1
        try:
            yield
        except DataAccessError as error:
            self._failure = error.with_traceback(None)
            self._is_reachable |= not isinstance(error, errors.TransportError | errors.ConfigError)
            # A second request would wait just as long.
            self._may_ask = not isinstance(error, errors.ConnectError | errors.RequestTimeoutError)
        else:
            self._is_reachable = True

    def _step(self, requests: Iterator[_Request], *questions: str) -> Iterator[_Request]:
        """Sends requests until one fails, which answers the questions."""
        try:
            yield from requests
        except _Unanswered:
            if self._failure is None:
                return
            is_refused = isinstance(self._failure, PermissionDeniedError)
            value = False if is_refused else None
            for name in questions:
                self._errors[name] = self._failure
                self._answer(name, "found" if is_refused else "not found", _reason(self._failure), value, value)

    def _ask(self, call: str, argument: Any, client: BaseClient | None = None) -> Generator[_Request, None, Any]:
        """Sends a request in the time that is left, and returns the response."""
        self.response, self._failure = None, None
        left = round(self._timeout - (monotonic() - self._began), 3)
        if not self._may_ask or left < _LEAST:
            raise _Unanswered
        if call == "download_segment":
            yield self.client, call, (argument, left)
        else:
            yield client or self.client, "search", (call, {**argument, "timeout": left})
        if self._failure is not None:
            raise _Unanswered
        return self.response

    def _codes(self, arguments: dict[str, Any], client: BaseClient | None = None) -> Generator[_Request, None, _Rows]:
        """The rows of a search of codes."""
        rows: _Rows = (yield from self._ask("search_codes", arguments, client))[0]
        return rows

    def _answer(
        self, question: str, state: State, detail: str, value: object = None, is_right: bool | None = None
    ) -> None:
        self._answers[question] = CheckAnswer(question, state, value, detail, is_right)

    def _is_right(self, question: str) -> bool | None:
        return self._answers[question].is_right if question in self._answers else None

    def _scope_of_codes(self) -> Iterator[_Request]:
        """A search that finds nothing, and the form of its conditions."""
        nothing = self.client._code_arguments(["id"], on(_EMPTY_DAY), limit=1)
        form = self.client._settings["code_value_type"]
        try:
            yield from self._codes(nothing)
            self._answer("code_value_type", "found", f"accepted {'with' if form else 'without'} value_type", form, True)
        except _Unanswered:
            refusal = self._failure
            if not _is_refused(refusal):
                raise
            yield from self._step(self._in_other_form(nothing, "is refused"))
            if self._is_right("code_value_type") is None:
                self._failure = refusal
                raise
        self._answer("scope item", "found", "a search of codes was accepted", True, True)

    def _in_other_form(self, arguments: dict[str, Any], failed: str) -> Generator[_Request, None, _Rows]:
        """Repeats a search that is refused or finds nothing with the other `code_value_type`, and keeps what helps."""
        self._has_tried_form = True
        form: Literal["normal"] | None = "normal" if self.client._settings["code_value_type"] is None else None
        other = self.client.with_options(code_value_type=form)
        rows = yield from self._codes(arguments, other)
        if rows or failed == "is refused":
            self.client = other
            right, wrong = ("with", "without") if form else ("without", "with")
            advice = 'set code_value_type="normal"' if form else "unset code_value_type"
            seen = f"a search of codes {failed} {wrong} value_type in its conditions, and succeeds {right} it: {advice}"
            self._answer("code_value_type", "found", seen, form, False)
            self._errors["code_value_type"] = DataAccessError(seen)
        return rows

    def _export(self) -> Iterator[_Request]:
        """The status of an export: a scope, and the codes with which exports end."""
        name, asked = "scope download", _ANY_EXPORT if self._export_id is None else self._export_id
        try:
            response = yield from self._ask("download_segment", asked)
        except _Unanswered:
            failure, scope = self._failure, self._answers.get("scope item")
            # Something on the way has no code. At a wrong address the path may be refused: the search has shown
            # whether this one is right.
            is_of_service = _is_refused(failure) and isinstance(failure, ApiError) and failure.code is not None
            if not is_of_service or scope is None or scope.state != "found":
                raise
            seen = f"export {asked} was refused, and not the token, which proves no scope"
            self._answer(name, "reading", f"{seen}: name an export that exists")
            return
        self._answer(name, "found", f"the status of export {asked} came", True, True)
        if self._export_id is None:
            return
        name, entries = "export codes", response["data"]["entries"]
        counts = Counter(str(entry.get("responseCode")) for entry in entries if has_ended(entry))
        seen = f"entries that have ended, by responseCode: {', '.join(f'{code} ({n})' for code, n in counts.items())}"
        if not counts:
            self._answer(name, "not found", f"no entry of export {self._export_id} has ended: name another one")
        elif "200" in counts:
            self._answer(name, "found", seen, [*counts], True)
        else:
            advice = "if that is success, wait with success_codes= of these codes"
            self._answer(name, "reading", f"{seen}: none is 200; {advice}", [*counts])

    def _search_of(self, day: Time) -> tuple[dict[str, Any], int]:
        """The search of the rows of a day, and the instant that it sends."""
        if isinstance(cast("object", day), Days) and day != yesterday():
            raise invalid("day", f"{day!r} is several days: give one of them", day)
        arguments = self.client._code_arguments([*ATTRIBUTES], on(day), limit=MOST_ROWS)
        try:
            body = self.client._raw.validate("validate_codes", arguments)
        except ValidationError as error:
            # Of the argument that the caller knows.
            problems = [problem._replace(argument="day", path="") for problem in error.problems]
            raise ValidationError(problems=problems) from None
        return arguments, body["filters"]["OR"][0]["AND"][-1]["value"]

    def _rows_of_day(self, arguments: dict[str, Any], sent: int) -> Iterator[_Request]:
        """What the rows of a day show: zones, comparison, and a cap."""
        rows = yield from self._codes(arguments)
        if not rows and not self._has_tried_form:
            # A service that refuses the other form says nothing about the day.
            yield from self._step(self._in_other_form(arguments, "finds nothing"))
            rows = self.response[0] if self.response is not None else []
        if not rows:
            for name in _OF_DAY:
                self._answer(name, "not found", f"{self._day} has no rows: name another day")
            return
        held = (row.get("allocated_audience") for row in rows if row.get("audience_type") == CUSTOMER)
        self._customer = str(next(filter(None, held), _NOBODY))
        search = DaySearch(sent, rows)
        yield from self._step(self._end_of_day(search), "timezone")
        if search.end is not None:
            day = ServiceDay(search.end, (row.get("allocated_time") for row in rows))
            self._answer_zones(search, day, len(rows))
            yield from self._step(self._comparison(search, day), "day_comparison")
        elif search.problem is not None:
            for name in _OF_DAY[:3]:
                self._answer(name, "not found", search.problem)
        yield from self._step(self._cap(_ids(rows), len(rows)), "known_row_cap")

    def _end_of_day(self, search: DaySearch) -> Iterator[_Request]:
        while (instant := search.instant) is not None:
            search.add(_ids((yield from self._codes(self._instant(search, "equals", instant)))))

    def _instant(self, search: DaySearch, operator: str, instant: datetime) -> dict[str, Any]:
        """A search for an instant, narrowed to an audience."""
        kinds, audiences = search.audience or (None, None)
        return self.client._code_arguments(["id"], op(operator, instant), kinds, audiences, None, MOST_ROWS)

    def _answer_zones(self, search: DaySearch, day: ServiceDay, rows: int) -> None:
        """The zone in which days are cut, by where the day ends, and then the zone of the times in records."""
        own, source = self.client.timezone, self.client.source_timezone
        if not day.zones:
            for name in _OF_DAY[:2]:
                self._answer(name, "not found", f"no time zone begins a day at {day.end_time}: {NO_CALENDAR_DAYS}")
            return
        seen = f"the {rows:,} rows of {self._day} are of a day that {day.end_shown}"
        # One code, or codes of one time, would come together also for 24 hours from an instant.
        state: State = "found" if search.has_spread else "reading"
        doubt = "" if search.has_spread else "; its codes are of one time, so DAY may be no calendar day: a busier day"
        zone = day.zone_named(own)
        if zone is None:
            self._answer("timezone", "reading", f"{seen}: set timezone to one of these", None, False)
        else:
            is_right = day.begins_with(own)
            advice = "" if is_right else ": set timezone to your zone of these"
            self._answer("timezone", state, f"{seen}{advice}{doubt}", zone, is_right)
        if not day.has_times:
            self._answer("source_timezone", "not found", "the rows have no times in the usual form")
            return
        fits = {zone: day.has_times_of(zone) for zone in dict.fromkeys(("UTC", source))}
        if zone is not None:
            fits[zone] = day.has_own_times
        zones = [name for name, is_fit in fits.items() if is_fit]
        times = f"the times of the rows fit {' and '.join(zones) or 'none of these zones'}"
        if len(zones) == 1 and day.has_times_of_both_ends:
            is_right = fits[source]
            advice = "" if is_right else f": set source_timezone to {zones[0]}"
            self._answer("source_timezone", "found", f"{times}{advice}", zones[0], is_right)
        elif fits[source]:
            self._answer("source_timezone", "reading", f"{times}; a busier day would show one", source, True)
        else:
            detail = f"{times}: they are at {day.record_offsets}; set source_timezone, or name a busier day"
            self._answer("source_timezone", "reading", detail, zones[0] if len(zones) == 1 else None, False)

    def _comparison(self, search: DaySearch, day: ServiceDay) -> Iterator[_Request]:
        """What the two operators do with the day that they name, and whether the setting is right."""
        # They find the codes of a day for its last and its first instant only if the day is included. One setting fits
        # a service that excludes it, and one that compares instants.
        name = "day_comparison"
        if search.audience is None:
            self._answer(name, "not found", "no code of the day has an audience to search for: name another day")
            return
        is_included = []
        for operator, instant in (("after_date", day.end - 1), ("before_date", day.start)):
            ids = _ids((yield from self._codes(self._instant(search, operator, moment(instant)))))
            is_included.append(not ids.isdisjoint(search.ids))
            if not is_included[-1] and len(ids) >= _LEAST_CAP:
                seen = f"{operator} found {len(ids):,} codes, and more may have been cut off: name another day"
                self._answer(name, "not found", seen)
                return
        after, before = is_included
        if after != before:
            includes, excludes = ("after_date", "before_date") if after else ("before_date", "after_date")
            seen = f"{includes} includes the day that it names, and {excludes} does not: no day_comparison fits both"
            self._answer(name, "found", seen, None, False)
            return
        right = "inclusive" if after else "exclusive"
        is_right = right == self.client.day_comparison
        advice = "" if is_right else f': set day_comparison to "{right}"'
        seen = f"after_date and before_date {'' if after else 'do not '}include the day that they name"
        self._answer(name, "found", f"{seen}{advice}", right, is_right)

    def _cap(self, ids: set[str], count: int) -> Iterator[_Request]:
        """The number of rows at which a response of the day was cut off: a search by status has other codes."""
        name, known = "known_row_cap", self.client._settings["known_row_cap"]
        if count >= MOST_ROWS:
            self._answer(name, "not found", f"the day has {count:,} codes or more: name one with fewer")
            return
        for status in CodeStatus:
            day = on(cast("Time", self._day))
            arguments = self.client._code_arguments(["id"], day, None, None, int(status), MOST_ROWS)
            if not ids.issuperset(_ids((yield from self._codes(arguments)))):
                seen = f"{self._day} has more codes than the {count:,} that one search finds: set known_row_cap={count}"
                self._answer(name, "found", seen, count, known == count)
                return
        self._answer(name, "not found", f"no response was cut off: the {count:,} codes of {self._day} came")

    def _form_of_attributes(self) -> Iterator[_Request]:
        """Whether a search of a customer takes its attributes as an array or as a string."""
        name, given = "attrs_format", self.client._settings["attrs_format"]
        reasons = []
        forms: tuple[AttrsFormat, ...] = ("array", "string") if given == "array" else ("string", "array")
        for form in forms:
            client = self.client.with_options(attrs_format=form)
            one = col("customer_id").matches([self._customer])
            arguments = client._item_arguments("customer", ["customer_id", "name"], one, None, 1)
            try:
                yield from self._ask("search_items", arguments, client)
            except _Unanswered:
                if self._failure is None:
                    return
                is_denied = isinstance(self._failure, PermissionDeniedError)
                reasons.append("the token may not search customers" if is_denied else _reason(self._failure))
                if not _is_refused(self._failure):
                    break
            else:
                advice = "" if form == given else f': set attrs_format="{form}"'
                self._answer(name, "found", f"a search of a customer was accepted{advice}", form, form == given)
                return
        self._answer(name, "not found", "; ".join(dict.fromkeys(reasons)))

    def result(self) -> ClientCheck:
        """All answers."""
        warn_of_service()
        took = monotonic() - self._began
        self._answer_connection(took)
        for name in _QUESTIONS:
            if name not in self._answers:
                self._answer(name, "not found", self._why_open(name))
        return ClientCheck(
            base_url=self.client._settings.sandbox or self.client.base_url,
            is_sandbox=self.client.is_sandbox,
            is_reachable=self._is_reachable,
            answers={name: self._answers[name] for name in _QUESTIONS},
            errors=self._errors,
            requests=self._requests,
            seconds=took,
        )

    def _why_open(self, question: str) -> str:
        """Why a question has no answer."""
        if question in _OF_DAY and self._day is None:
            return "name a day that has many codes"
        if question in _OF_DAY and self._is_right("scope item") is False:
            return "the token may not search codes"
        is_late = "there was no time left to ask; raise timeout"
        return _OPEN.get(question) or (is_late if self._is_reachable else "the service was not reached")

    def _answer_connection(self, took: float) -> None:
        """The address, TLS, proxy and token: no request is about one of them alone."""
        client, is_reached = self.client, self._is_reachable
        phase = getattr(next(iter(self._errors.values()), None), "phase", None)
        sandbox = " (the sandbox: synthetic data)" if client.is_sandbox else ""
        seen = f"reached, in {took:.2f} s{sandbox}" if is_reached else "not reached"
        self._answer("address", "found" if is_reached else "not found", seen, client.base_url, is_reached)
        trusted, proxy = client.settings["ca_bundle"].value or "the CAs of the system", client.settings["proxy"]
        tls, through = (True if is_reached else False if phase == name else None for name in ("tls", "proxy"))
        if client.base_url.startswith("https:"):
            seen = {True: f"the certificate is trusted, by {trusted}", False: "refused", None: "not tried"}[tls]
            self._answer("tls", "found" if is_reached else "not found", seen, is_reached or None, tls)
        else:
            self._answer("tls", "found", "none: the address begins with http:", False)
        if proxy.value:
            self._answer("proxy", "found", f"from {proxy.source}", str(proxy.value), through)
        else:
            self._answer("proxy", "found", "none")
        of = f"from {client._token_source}"
        scopes = [self._answers.get(f"scope {name}") for name in ("item", "download")]
        if any(scope is not None and (scope.is_right or scope.state == "reading") for scope in scopes):
            self._answer("token", "found", f"{of}: accepted", True, True)
        elif all(scope is not None and scope.is_right is False for scope in scopes):
            seen = f"{of}: refused by both requests: it is invalid, expired, or has neither scope"
            self._answer("token", "reading", seen, None, False)
        else:
            self._answer("token", "not found", f"{of}: no request was accepted or refused for its token")


def _ids(rows: _Rows) -> set[str]:
    """The ids of codes, of whatever type they are."""
    return {str(row.get("id")) for row in rows}


def _is_refused(error: DataAccessError | None) -> bool:
    """Whether the service refused a request, and neither the token nor all requests."""
    return isinstance(error, RequestRejectedError) or type(error) is ApiError


def _reason(error: DataAccessError) -> str:
    """Why a request failed. What may help is in the errors of a check."""
    return str(error).removeprefix(f"{error.operation}: ").removesuffix(f"; {error.hint}")
