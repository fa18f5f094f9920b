"""What clients and uses of scans report: settings, statistics and progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from dataaccess._display.listing import listing_html, listing_text
from dataaccess._public import public


@public
@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a client, as `Client.settings` shows it.

    Attributes:
        value: The value, or `(hidden)` if it is a secret.
        source: Where it came from: `argument`, `environment variable NAME`, `profile NAME in FILE`, `the sandbox` or
            `default`.
    """

    value: object
    source: str

    def __str__(self) -> str:
        return f"{self.value} ({self.source})"


class SettingsByName(dict[str, Setting]):
    """The settings of a client by name: a dict that notebooks show as a table."""

    def __str__(self) -> str:
        """A line for each setting: what `print` shows."""
        return listing_text(_HEADS, self._rows())

    def _repr_html_(self) -> str:
        """The settings for notebooks."""
        return listing_html("Settings of a client", _HEADS, self._rows())

    def _rows(self) -> list[list[object]]:
        return [[name, setting.value, setting.source] for name, setting in self.items()]


_HEADS = ["setting", "value", "from"]


@public
@dataclass(frozen=True, slots=True)
class ClientStats:
    """Statistics of a client since it was made.

    Attributes:
        requests: Requests sent, retries included.
        retries: Retries after a failure, which `retry_for` bounds.
        free_retries: Requests retried at once, because the service had closed the idle connection. A call has at most
            one.
        throttled: Responses that asked to slow down (HTTP 429 and 503).
        in_flight: Requests whose response has not ended yet.
        bytes_received: Size of all bodies as transferred (compressed if they were).
        connections_opened: Connections to the service.
    """

    requests: int
    retries: int
    free_retries: int
    throttled: int
    in_flight: int
    bytes_received: int
    connections_opened: int

    def _repr_html_(self) -> str:
        """The statistics for notebooks."""
        rows = [[field.name, getattr(self, field.name)] for field in fields(self)]
        return listing_html("Statistics of a client", ["figure", "number"], rows)


@public
@dataclass(frozen=True, slots=True)
class ScanStats:
    """Statistics of one use of a scan.

    Attributes:
        rows: Rows delivered.
        bytes: Size of the responses.
        seconds: From the start to the end of the last response; for batches including the time of their consumer.
        requests: Responses read: one for each request of the plan, or fewer if a limit was reached.
        attempts: Requests sent, retries included.
        empty_shape: What the response held in place of records if there were none, such as `data.data []`.
        extra_keys: Keys that were not requested, and how many records had each: at most 32 names of at most 64 bytes,
            all others as "…". Rows keep them, columns do not.
        absent: Attributes missing from every record, not even null; not known of a response cut by a limit.
        reasons: Why rows may be missing, as the numbers of rows look as if the service capped responses; empty
            otherwise.
        stray_days: The days whose requests returned rows of others, in the client's `timezone`.
        notes: What is worth knowing about the columns of a collected result, such as a time that stayed a string.
        warnings: The texts of the warnings of this use.
        response_headers: Headers of the last response, as `DataAccessError.response_headers` has them.
    """

    rows: int
    bytes: int
    seconds: float
    requests: int
    attempts: int
    empty_shape: str | None
    extra_keys: dict[str, int]
    absent: list[str]
    reasons: list[str]
    stray_days: list[str]
    notes: list[str]
    warnings: list[str]
    response_headers: dict[str, str]

    @property
    def maybe_capped(self) -> bool:
        """Whether there are `reasons`. False does not prove that all rows arrived: no total is specified."""
        return bool(self.reasons)

    @property
    def retries(self) -> int:
        """Requests that were retried."""
        return self.attempts - self.requests

    def _repr_html_(self) -> str:
        """The statistics for notebooks."""
        rows = [[field.name, getattr(self, field.name)] for field in fields(self)]
        return listing_html("Statistics of a scan", ["figure", "value"], rows)


@public
@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a long call: what a function given as `progress=` gets.

    A scan reports at first and after each response, and all but `to_folder` also as rows arrive. `wait_for_segment`
    reports with each response, `Sandbox.load` every thousand rows.

    Attributes:
        unit: What `total` and `done` count: tasks of a scan, entries of an export, or rows to load.
        total: How many there are; None if that is not known.
        done: How many are done; of a run, in this one or an earlier one.
        failed: How many failed in this call.
        rows: Rows of what is done; of scans, but not of runs, also of responses in flight.
        bytes: Size of the responses of the tasks that are done.
        seconds: Since the call began.
        retries: Requests that the client retried since the call began, those of its other calls included.
        day: The day of the task of a run that ended last, as `2024-01-15`; None before, and in scans without days.
    """

    unit: Literal["tasks", "entries", "rows"]
    total: int | None
    done: int
    failed: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    retries: int = 0
    day: str | None = None


ProgressArgument: TypeAlias = bool | Callable[[Progress], object] | None
"""Whether a bar shows the progress of a call, or a function that gets it. `AsyncClient` awaits a coroutine function."""
