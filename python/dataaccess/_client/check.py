"""`ClientCheck`: what a check of a client and its service found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.text import cell
from dataaccess._public import public

if TYPE_CHECKING:
    from dataaccess.errors import DataAccessError

_KINDS = {True: "good", False: "bad", None: "doubt"}


@public
@dataclass(frozen=True, slots=True, repr=False)
class ClientCheck:
    """What a client can do at its service: what `Client.check` returns. `print(check)` shows it in a few lines.

    Attributes:
        base_url: Address of the service.
        is_sandbox: Whether the data is synthetic.
        is_reachable: Whether the service responded.
        token_source: Where the token comes from: `text`, `environment`, `callable` or `the sandbox`.
        scopes: For `item` (searches of promotion codes) and `download` (downloads, whatever the service calls their
            scope), whether the token permits it; None if that is not known, as where there is no such export.
        timezone: The time zone of the client.
        day: What was found out about the day, if one was given.
        is_day_right: Whether the service cuts its days in the `timezone` of the client, and times in records are of
            that day in its `source_timezone`; None if that is not known.
        day_comparison: The `day_comparison` of the client.
        comparison: What was found out about `after_date` and `before_date`, if a day with rows was given.
        is_comparison_right: Whether the service compares days as the `day_comparison` of the client says; None if that
            is not known.
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
            "scopes:    " + ", ".join(f"{name}: {self._scope(name)}" for name in self.scopes),
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
        if any(known):
            return "accepted"
        return "not refused" if self._has_no_export else "not accepted" if known else None

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
