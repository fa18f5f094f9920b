"""What a client reports: its settings and its statistics."""

from __future__ import annotations

from dataclasses import dataclass, fields

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
