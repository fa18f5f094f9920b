"""What `check` finds out about a client: each request is an attempt whose failure is a finding."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from dataaccess.errors import (
    ApiError,
    ConfigError,
    DataAccessError,
    PermissionDeniedError,
    RequestRejectedError,
    TransportError,
    ValidationError,
)
from dataaccess.reports import ClientCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess._client.base import Connection
    from dataaccess._native import RawTable

# A day without codes, and an export that need not exist.
EMPTY_DAY = "1990-01-01"
ANY_EXPORT = 1

# Seconds that one request of a check may take.
_TIMEOUT = 30


class Findings:
    """The findings so far, and the native client that sends each request once."""

    def __init__(self, client: Connection) -> None:
        """Nothing is known yet."""
        self._client = client.with_options(retry_for=0, timeout=min(client._settings["timeout"], _TIMEOUT))  # noqa: SLF001 - of this package
        self.raw = self._client._raw  # noqa: SLF001 - likewise
        self.scopes: dict[str, bool | None] = {"item": None, "download": None}
        self._began = monotonic()
        self._errors: dict[str, DataAccessError] = {}
        self._is_reachable = False
        self._day: tuple[str | None, bool | None] = (None, None)

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
        else:
            self._is_reachable = True
            if name in self.scopes:
                self.scopes[name] = True

    def add_day(self, day: object, table: RawTable) -> None:
        """Notes whether the rows of a day are of that day."""
        stray = [warning["message"] for warning in table.stats["warnings"] if warning["category"] == "StrayDayWarning"]
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
