"""What `check` finds out about a client: each request is an attempt whose failure is a finding."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, cast

from dataaccess._client.check import ClientCheck
from dataaccess._core.arguments import code_arguments
from dataaccess._core.checks import invalid, seconds
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
from dataaccess.errors._text import text_of
from dataaccess.filters import Days, yesterday
from dataaccess.filters._comparison import on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess._client.base import BaseClient
    from dataaccess._native import RawScan, RawTable
    from dataaccess.filters import Time

# A day without codes, and an export that need not exist.
EMPTY_DAY = "1990-01-01"
ANY_EXPORT = 1

# Seconds that a check may take.
_TIMEOUT = 30
# Less is no time for a request.
_LEAST = 0.001


class Findings:
    """The findings so far, and the native client that sends each request once."""

    def __init__(self, client: BaseClient, timeout: object) -> None:
        """Nothing is known yet. The time begins to run."""
        usual = min(client._settings["timeout"], _TIMEOUT)  # noqa: SLF001 - of this package
        self._timeout = usual if timeout is None else seconds("timeout", timeout)
        self._client = client.with_options(retry_for=0, timeout=self._timeout)
        self.raw = self._client._raw  # noqa: SLF001 - likewise
        self.scopes: dict[str, bool | None] = {"item": None, "download": None}
        self._began = monotonic()
        self._errors: dict[str, DataAccessError] = {}
        self._is_reachable = False
        self._may_ask = True
        self._day: tuple[str | None, bool | None] = (None, None)

    def left(self) -> float | None:
        """Seconds that are left; None if there is no time, or the service cannot be reached, to ask once more."""
        left = self._timeout - (monotonic() - self._began)
        return left if self._may_ask and left >= _LEAST else None

    def scan_of(self, day: Time, timeout: float | None = None) -> RawScan:
        """The search of the rows of a day.

        Raises:
            ValidationError: It is not a day.
        """
        if isinstance(cast("object", day), Days) and day != yesterday():
            raise invalid("day", f"{day!r} is several days: give one of them", day)
        self._day = ("not asked, as the service was not reached in time", None)
        arguments = code_arguments(["allocated_time"], on(day), None, None, None, None, timeout)
        try:
            return self.raw.scan_codes(arguments, None, ordered=True, splits=False, now=None)
        except ValidationError as error:
            # Of the argument that the caller knows.
            problems = [replace(problem, argument="day", path="", value=day) for problem in error.problems]
        raise ValidationError(problems=problems)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Notes what a request says about a scope."""
        try:
            yield
        except ValidationError:
            raise
        except DataAccessError as error:
            has_scope = self._has_scope(name, error)
            if name in self.scopes:
                self.scopes[name] = has_scope
            if not has_scope:
                self._errors[name] = error.with_traceback(None)
            self._is_reachable |= not isinstance(error, TransportError | ConfigError)
            # A second request would wait just as long.
            self._may_ask = not isinstance(error, ConnectError | RequestTimeoutError)
            if name == "day":
                self._day = (None, None)
        else:
            self._is_reachable = True
            if name in self.scopes:
                self.scopes[name] = True

    def add_day(self, day: object, table: RawTable) -> None:
        """Notes whether the rows of a day are of that day."""
        stray = [
            text_of(warning["message"])
            for warning in table.stats["warnings"]
            if warning["category"] == "StrayDayWarning"
        ]
        if table.num_rows == 0:
            self._day = (f"{day} has no rows: name another day", None)
        else:
            self._day = (stray[0] if stray else f"the {table.num_rows:,} rows of {day} are of that day", not stray)

    def result(self) -> ClientCheck:
        """All findings."""
        client = self._client
        day, is_day_right = self._day
        return ClientCheck(
            base_url=client.base_url,
            is_sandbox=client.is_sandbox,
            is_reachable=self._is_reachable,
            token_source=client._token_source,  # noqa: SLF001 - of this package
            scopes=self.scopes,
            timezone=client.timezone,
            day=day,
            is_day_right=is_day_right,
            seconds=monotonic() - self._began,
            errors=self._errors,
        )

    def _has_scope(self, name: str, error: DataAccessError) -> bool | None:
        """What an error says about the scope of the token."""
        if isinstance(error, PermissionDeniedError):
            return False
        # The service looks for an export only with the scope, and says in an envelope that there is none. Another
        # service, at a wrong address, may say so of the path: the search has shown that this one is right.
        is_refused = isinstance(error, RequestRejectedError) or type(error) is ApiError
        is_missing = is_refused and isinstance(error, ApiError) and error.code is not None
        return True if name == "download" and is_missing and self.scopes["item"] is not None else None
