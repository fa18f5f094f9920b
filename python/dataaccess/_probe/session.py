"""The requests of a probe. Each is sent once, at its first use, and changes nothing on the service.

What is not as expected in a response leaves a point open, and is named.
"""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import dataaccess as da
from dataaccess._client.service_day import MOST_ROWS, DaySearch, ServiceDay, audience_of
from dataaccess._contract import CUSTOMER, DOWNLOAD_PATH, SEARCH_PATH
from dataaccess.errors import (
    ApiError,
    PermissionDeniedError,
    ResponseError,
    ServerError,
    ThrottledError,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from dataaccess._types import CodeValueType

# `type` distinguishes a boolean from an integer.
_TYPES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


class NotSettledError(Exception):
    """A point stays open. The message says what was seen, and what would help."""


class NotPermittedError(NotSettledError):
    """A point stays open because the token lacks a scope."""


def json_type(value: object) -> str:
    """The JSON type of a value, with its article."""
    return _TYPES[type(value)]


def member(value: object, name: str, of: str) -> Any:
    """A member of what should be an object; `of` names that.

    Raises:
        NotSettledError: It is none, or has no such member.
    """
    if not isinstance(value, dict):
        raise NotSettledError(f"{of} is {json_type(value)}, not an object")
    if name not in value:
        raise NotSettledError(f"{of} has no {name}")
    return value[name]


def records(envelope: dict[str, Any]) -> list[Any]:
    """The records of a search, whichever shape an empty result has.

    Raises:
        NotSettledError: It is not a result.
    """
    data = envelope.get("data")
    if not data and data in ([], {}, None):
        return []
    if isinstance(data, dict) and data.get("status") is False:
        raise NotSettledError("data.status is false in a response with code 200")
    found = data.get("data") if isinstance(data, dict) else member(data, "data", "data")
    if not found and found in ([], {}, None):
        return []
    if not isinstance(found, list):
        raise NotSettledError(f"data.data is {json_type(found)}, not an array")
    return found


EMPTY_DAY = "1990-01-01"
NO_ID = 999_999_999_999
WORD = "no_such_value"
# Attributes of a customer.
NAMES = ("customer_id", "name")
_MOST_MIB = 16

# What a point survives: a response that is no result. Without a connection, no other point can be settled either.
SURVIVED = (NotSettledError, ApiError, ResponseError)
# Failures that say nothing about the request.
_NO_REFUSALS = (PermissionDeniedError, ThrottledError, ServerError)
_REDIRECTS = range(300, 400)

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _once(method: Callable[Concatenate[Session, _Given], _Result]) -> Callable[Concatenate[Session, _Given], _Result]:
    """Keeps the result of a method, or its failure, so that no request is sent twice."""

    @wraps(method)
    def kept(session: Session, /, *args: _Given.args, **keywords: _Given.kwargs) -> _Result:
        key = (method.__name__, *args)
        if key not in session.kept:
            try:
                session.kept[key] = method(session, *args, **keywords), None
            except SURVIVED as error:
                session.kept[key] = None, error
        result, failure = session.kept[key]
        if failure is not None:
            raise failure.with_traceback(None)
        return cast("_Result", result)

    return kept


class Session:
    """The requests to one service, and its responses."""

    def __init__(self, client: da.Client, day: date, export_id: int | None) -> None:
        """Nothing is sent yet."""
        self.client = client
        # A service that ignores a condition finds more than a probe is after. Only a day may have many codes.
        self._bounded = client.with_options(max_result_bytes=_MOST_MIB * 1024 * 1024)
        self.day = day
        self.export_id = export_id
        self.sent = 0
        self.seconds: list[float] = []
        self.refusals: list[ApiError] = []
        # Those of searches that are not as the specification shows them.
        self.malformed: list[ApiError] = []
        self.kept: dict[Any, Any] = {}

    @_once
    def rows(self) -> list[dict[str, Any]]:
        """The codes of the day."""
        attributes = [*da.PROMOTION_CODE_ATTRIBUTES]
        found = self._timed(
            lambda: self.client.search_codes(attributes, allocated_time=da.on(self.day), limit=MOST_ROWS)
        )
        if not found:
            raise NotSettledError(f"{self.day} has no codes: name another day")
        return found

    @_once
    def audience(self) -> tuple[str, int, str]:
        """The id of a code of the day, with its audience type and audience."""
        # The last one: at the first instant of the day, a code is not after that instant.
        for row in sorted(self.rows(), key=lambda row: str(row["allocated_time"]), reverse=True):
            code, found = row["id"], audience_of(row)
            if isinstance(code, str) and found is not None:
                return code, *found
        raise NotSettledError(
            "no code of the day has an audience to search for (audience_type, allocated_audience): name another day"
        )

    def service_day(self) -> ServiceDay:
        """The day of the service that has the codes: its end is found by which codes come."""
        return ServiceDay(self.day_search().end or 0, (row["allocated_time"] for row in self.rows()))

    @_once
    def day_search(self) -> DaySearch:
        """The search for the end of that day."""
        rows = self.rows()
        search = DaySearch(self.sent_instant(), rows)
        while (instant := search.instant) is not None:
            kind, audience = search.audience or (None, None)
            search.add(self._ids(da.op("equals", instant), kind, audience))
        if search.end is None:
            raise NotSettledError(str(search.problem))
        return search

    def sent_instant(self) -> int:
        """The instant that a search of the day sends, in Unix milliseconds."""
        body = self.client.validate_codes(["id"], allocated_time=da.on(self.day))
        instant: int = body["filters"]["OR"][0]["AND"][-1]["value"]
        return instant

    @_once
    def compared(self, operator: str, instant: int) -> bool:
        """Whether an operator finds a code of the day for an instant, in Unix milliseconds."""
        code, kind, audience = self.audience()
        found = self._ids(da.op(operator, datetime.fromtimestamp(instant / 1_000, UTC)), kind, audience)
        if code in found:
            return True
        most = None
        with suppress(NotSettledError):
            most = self.most_rows()
        if most is not None and len(found) >= most:
            raise NotSettledError(f"{operator} found {len(found)} codes, as many as a response has at most")
        return False

    @_once
    def most_rows(self) -> int:
        """The number of rows at which a response of the day was cut off: more codes of the day have a status."""
        count, of_status = len(self.rows()), 0
        if count >= MOST_ROWS:
            raise NotSettledError(f"the day has {count:,} codes or more: name one with fewer")
        for status in da.CodeStatus:
            of_status += len(self._ids(da.on(self.day), None, None, code_status=int(status)))
            if of_status > count:
                return count
        raise NotSettledError(f"no response was cut off: the {count:,} codes of the day came")

    @_once
    def nothing(self, value_type: CodeValueType | None) -> dict[str, Any] | ApiError:
        """The envelope of a search that finds nothing, with this `value_type` in its condition, or its refusal."""
        client = self.client.with_options(code_value_type=value_type)
        body = client.validate_codes(["id"], allocated_time=da.on(EMPTY_DAY))
        outcome = self._outcome(SEARCH_PATH, body)
        if isinstance(outcome, ApiError):
            self.malformed.append(outcome)
        return outcome

    def require(self, value_type: CodeValueType) -> None:
        """Sends this `value_type` from here on."""
        self.client, self._bounded = (
            each.with_options(code_value_type=value_type) for each in (self.client, self._bounded)
        )

    def empty(self) -> dict[str, Any]:
        """The envelope of a search that finds nothing."""
        form: Any = self.client.settings["code_value_type"].value
        outcome = self.nothing(form)
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    def codes_with(self, **members: object) -> list[Any] | ApiError:
        """A search of the codes that an audience has of the day, with these members of the time condition.

        A service that ignores the condition finds the other codes of that audience too.

        If searches of codes fail without these members too, it raises that failure.
        """
        try:
            _, kind, audience = self.audience()
        except SURVIVED:
            kind, audience = CUSTOMER, WORD
            records(self.empty())
        body = self.client.validate_codes(
            ["id"], allocated_time=da.on(self.day), audience_type=kind, allocated_audience=audience
        )
        body["filters"]["OR"][0]["AND"][-1].update(members)
        return self._search(body)

    @_once
    def unknown_export(self) -> dict[str, Any] | ApiError:
        """The envelope of an export that does not exist, or its refusal."""
        return self._download(NO_ID)

    @_once
    def export(self) -> dict[str, Any] | ApiError:
        """The envelope of the export that was named, or its refusal."""
        if self.export_id is None:
            raise NotSettledError("name an export that has ended: --export")
        return self._download(self.export_id)

    def entries(self) -> list[Any]:
        """The entries of the named export that have ended."""
        envelope = self.export()
        if isinstance(envelope, ApiError):
            raise envelope
        entries = member(envelope.get("data"), "entries", "data")
        if not isinstance(entries, list):
            raise NotSettledError(f"data.entries is {json_type(entries)}, not an array")
        ended = [entry for entry in entries if member(entry, "endTime", "an entry") is not None]
        if not ended:
            raise NotSettledError(f"no entry of export {self.export_id} has ended")
        return ended

    @_once
    def customers(self, form: str) -> list[Any] | ApiError:
        """A search of one customer, whose attributes are an array or a string."""
        try:
            return self._search(self._customers(form))
        except PermissionDeniedError:
            raise NotPermittedError("the token may not search customers") from None

    @_once
    def form(self) -> str:
        """The form of attributes with which a search of a customer is accepted."""
        seen: list[str] = []
        for form in ("array", "string"):
            try:
                outcome = self.customers(form)
            except NotPermittedError:
                raise
            except SURVIVED as error:
                seen.append(str(error))
                continue
            if isinstance(outcome, list):
                return form
            seen.append(str(outcome))
        raise NotSettledError(f"no search of a customer was accepted: {'; '.join(dict.fromkeys(seen))}")

    def customers_with(self, *, attrs: list[str] | None = None, **members: object) -> list[Any] | ApiError:
        """The same search in the form that is accepted, with these attributes and these members of its condition."""
        form = self.form()
        body = self._customers(form)
        body["filters"]["OR"][0]["AND"][0].update(members)
        if attrs is not None:
            body["attrs"] = attrs if form == "array" else ",".join(attrs)
        return self._search(body)

    def has_customer(self) -> bool:
        """Whether the search of one customer finds it."""
        found = self.customers(self.form())
        return isinstance(found, list) and len(found) > 0

    def unknown_object(self) -> list[Any] | ApiError:
        """A search of a business object that does not exist."""
        body = {**self._customers(self.form()), "itemTypeId": NO_ID, "itemTypeName": WORD}
        outcome = self._outcome(SEARCH_PATH, body)
        return outcome if isinstance(outcome, ApiError) else records(outcome)

    def customer(self) -> str:
        """The id of a customer who has a code of the day, or one that does not exist."""
        try:
            rows = self.rows()
        except SURVIVED:
            return WORD
        held = filter(None, map(audience_of, rows))
        return next((one for kind, one in held if kind == CUSTOMER), WORD)

    def _customers(self, form: str) -> dict[str, Any]:
        found = da.col("customer_id").matches([self.customer()])
        body = deepcopy(self.client.validate_items("customer", [*NAMES], found))
        return body if form == "array" else {**body, "attrs": ",".join(NAMES)}

    def _download(self, export_id: int) -> dict[str, Any] | ApiError:
        try:
            return self._outcome(DOWNLOAD_PATH, {"scope": "download", "exportId": export_id})
        except PermissionDeniedError:
            raise NotPermittedError("the token may not download") from None

    def _search(self, body: dict[str, Any]) -> list[Any] | ApiError:
        """The records of a search, or its refusal."""
        outcome = self._outcome(SEARCH_PATH, body)
        if not isinstance(outcome, ApiError):
            return records(outcome)
        self.malformed.append(outcome)
        return outcome

    def _outcome(self, path: str, body: dict[str, Any]) -> dict[str, Any] | ApiError:
        """The envelope of a success, or the refusal."""
        try:
            return self._post(path, body)
        except ApiError as error:
            if isinstance(error, _NO_REFUSALS) or error.status in _REDIRECTS:
                raise
            self.refusals.append(error)
            return error

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._timed(lambda: self._bounded.post(path, body, idempotent=True))
        except ResponseError as error:
            if error.reason != "too_large":
                raise
            raise NotSettledError(f"more than {_MOST_MIB} MiB came, where few records were expected") from None

    def _ids(self, time: Any, kind: Any, audience: Any, **more: Any) -> list[Any]:
        """The ids of codes; an audience narrows the search."""
        found = self._timed(
            lambda: self._bounded.search_codes(
                ["id"], allocated_time=time, audience_type=kind, allocated_audience=audience, limit=MOST_ROWS, **more
            )
        )
        return [row["id"] for row in found]

    def _timed(self, request: Callable[[], _Result]) -> _Result:
        self.sent += 1
        began = monotonic()
        result = request()
        self.seconds.append(monotonic() - began)
        return result
