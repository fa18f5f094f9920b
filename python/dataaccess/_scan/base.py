"""`BaseScan`: a scan before it is used: its arguments, requests, plan and pickle. Nothing here waits."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from dataaccess._contract import SEARCH_PATH
from dataaccess._core.checks import SETTLE, boolean_argument, choice, count, invalid, settle_seconds, time_zone
from dataaccess._display.text import cell, shorten
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.outcome import progress_of, stats_of, warn_without_times
from dataaccess._scan.schema import type_names, with_declared
from dataaccess.filters._values import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess._native import RawScan, RawStream
    from dataaccess._scan.explain import Plan
    from dataaccess._scan.outcome import ScanClient
    from dataaccess._types import Request, ResultZone, Schema
    from dataaccess.reports import Progress, ScanStats

# The size of a batch, in rows and bytes. Larger where the first batch shows the types.
BATCH = (8_192, 2 * 2**20)
LARGE_BATCH = (65_536, 8 * 2**20)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BaseScan:
    """The common part of `Scan` and `AsyncScan`."""

    _client: ScanClient
    _call: str
    _raw: RawScan
    _arguments: dict[str, Any]
    _schema: dict[str, Any] | None
    _splits: bool
    _limit: int | None = None

    def __init__(
        self,
        client: ScanClient,
        call: str,
        arguments: dict[str, Any],
        schema: Schema | None,
        on_suspected_cap: str = "warn",
        decode_status: bool = False,
        now: int | None = None,
    ) -> None:
        """Checks the arguments; sends nothing. `now` is the time of the scan that this one copies."""
        self._client, self._call = client, call
        # A copy: an iterator can be read only once, and a list could change.
        self._arguments = {name: snapshot(value) for name, value in arguments.items()}
        names = type_names(schema, decoded=boolean_argument("decode_status", decode_status))
        self._schema = with_declared(names, self._arguments.get("known_attributes"), self._arguments["attrs"])
        self._splits = choice("on_suspected_cap", on_suspected_cap, ("warn", "split")) == "split"
        self._limit = arguments["limit"]
        if self._splits and self._limit is not None:
            raise invalid("on_suspected_cap", "a limit cuts responses itself: leave limit out", "split")
        self._raw = self._made(self._arguments, self._schema, now)
        if now is None:
            client._note_days(partial(self._raw.body, 0))

    def _made(self, arguments: dict[str, Any], schema: dict[str, Any] | None, now: int | None) -> RawScan:
        return self._client._raw.scan(self._call, arguments, schema, self._splits, now)

    def __bool__(self) -> bool:
        """True, with or without rows. Sends nothing."""
        return True

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return list(self._raw.types)

    @property
    def schema(self) -> dict[str, str]:
        """Types of the columns by name, as `schema` takes them; "inferred" where the first rows decide."""
        return self._raw.types

    @property
    def last_stats(self) -> ScanStats | None:
        """Statistics of the last use that read all responses to their end; None before."""
        outcome = self._raw.stats
        return None if outcome is None else stats_of(outcome)

    def requests(self) -> list[Request]:
        """Returns the exact requests, in the order of their rows. Sends nothing.

        Returns:
            A list of dicts with `method`, `url` and `body`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> requests = scan.requests()
            >>> len(requests), requests[0]["body"]["attrs"]
            (91, ['id'])
        """
        url = self._client.base_url + SEARCH_PATH
        return [{"method": "POST", "url": url, "body": self._raw.body(index)} for index in range(self._raw.requests)]

    def explain(self, *, settle: float | timedelta = SETTLE) -> str:
        """Returns the plan as text: requests, conditions, columns, days that are not over. Sends nothing.

        Args:
            settle: How long after its end a day may still change, as in `to_folder`.

        Returns:
            Some lines for `print`. Times are in the time zone of the client.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> days = da.days("2024-01-01", "2024-04-01")
            >>> attrs = ["id", "pool_id", "allocated_time"]
            >>> print(client.scan_codes(attrs, allocated_time=days, code_status="used").explain())
            promotion_code (-100) in 91 requests, days and times in UTC
            service filters: code_status matches USED (4)
                             allocated_time equals DAY of 2024-01-01 … 2024-03-31, one per request
            columns:         id string, pool_id int64, allocated_time timestamp
        """
        return str(self._plan(settle_seconds(settle)))

    def __str__(self) -> str:
        """The plan, as `explain` returns it."""
        return self.explain() if hasattr(self, "_raw") else repr(self)

    def _repr_html_(self) -> str:
        """The plan for notebooks. Sends nothing."""
        return self._plan(SETTLE.total_seconds()).html()

    def _plan(self, settle: float) -> Plan:
        from dataaccess._scan.explain import Plan  # takes longer to import than all that rows need

        return Plan(self._raw, self._client, self._limit, settle)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments and the client, whose pickle has no token."""
        cap = "split" if self._splits else "warn"
        # Days from today on stay what they were, and the schema is decoded.
        return type(self), (self._client, self._call, self._arguments, self._schema, cap, False, self._raw.now)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback with locals may show a scan whose arguments were refused.
            return f"{type(self).__name__}(unfinished)"
        requests = "" if self._raw.requests == 1 else f", {self._raw.requests:,} requests"
        return f"{type(self).__name__}({self._described()}{requests}; {self._client!r})"

    def _described(self) -> str:
        """The call, the object if the call does not name it, and the columns."""
        name = "" if self._call == "scan_codes" else f"{cell(self._raw.body(0)['itemTypeName'])}: "
        return f"{self._call} of {name}{shorten(self.column_names)}"

    def _changed(self, schema: dict[str, Any] | None, **arguments: Any) -> Self:
        """The scan with other arguments and types."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._arguments, copy._schema = {**self._given(), **arguments}, schema
        copy._limit = copy._arguments["limit"]
        copy._raw = copy._made(copy._arguments, schema, self._raw.now)
        return copy

    def _given(self) -> dict[str, Any]:
        """The arguments, as the core takes them."""
        return self._arguments

    def _counted(self) -> Self:
        """The scan with one attribute. The time that it selects by is best: rows of other days are then reported."""
        conditions = [condition for group in self._raw.body(0)["filters"]["OR"] for condition in group["AND"]]
        times = [condition["column"] for condition in conditions if condition["data_type"] == "datetime"]
        names = self.column_names
        attribute = next((name for name in times if name in names), names[0])
        # Any value fits the type "json".
        return self._changed({attribute: "json"}, attrs=[attribute])

    def _in_zone(self, tz: ResultZone) -> RawScan:
        """The scan whose results have times in a zone."""
        return self._raw if tz is CLIENT_ZONE else self._raw.in_zone(time_zone("tz", tz))

    def _in_zone_of_files(self, tz: ResultZone) -> RawScan:
        """As `_in_zone`, for uses that return no columns: warns of a `tz` that changes nothing."""
        scan = self._in_zone(tz)
        if "inferred" not in self._raw.types.values():
            warn_without_times(asked_zone(tz), list(self.schema.items()))
        return scan

    def _open(self, max_rows: int | None, max_bytes: int | None, tz: ResultZone) -> RawStream:
        """Sends the first requests of `batches`."""
        scan = self._in_zone(tz)
        self._check_streamed()
        rows, size = LARGE_BATCH if "inferred" in self._raw.types.values() else BATCH
        return scan.open(
            rows if max_rows is None else count("max_rows", max_rows),
            size if max_bytes is None else count("max_bytes", max_bytes),
            ends_at_interrupt=False,
        )

    def _check_streamed(self) -> None:
        """Refuses `on_suspected_cap="split"`: rows that were delivered cannot be exchanged for parts of a request."""
        if self._splits:
            message = 'does not work batch by batch: use collect, a to_ method, or a scan without "split"'
            raise invalid("on_suspected_cap", message, "split")

    def _progress(self) -> Callable[[dict[str, Any]], Progress]:
        """Makes the progress of a use that begins now."""
        return progress_of(self._client)


class BaseTask(BaseScan):
    """The common part of `Task` and `AsyncTask`: one request of a scan.

    Attributes:
        id: Identifies the request: the same for the same request at the same position of its scan.
    """

    id: str

    def __init__(
        self, client: ScanClient, call: str, raw: RawScan, schema: dict[str, Any] | None, name: str, splits: bool
    ) -> None:
        """Use `tasks` of a scan."""
        self._client, self._call, self._raw, self._schema = client, call, raw, schema
        self.id, self._splits = name, splits

    @classmethod
    def _from_body(
        cls,
        client: ScanClient,
        call: str,
        body: dict[str, Any],
        schema: dict[str, Any] | None,
        name: str,
        splits: bool,
    ) -> Self:
        """Makes the task of a request body, when a pickle is loaded."""
        raw = client._raw.scan(call, _arguments_of(body, client), schema, splits, is_task=True)
        return cls(client, call, raw, schema, name, splits)

    def _given(self) -> dict[str, Any]:
        return _arguments_of(self._raw.body(0), self._client)

    def _made(self, arguments: dict[str, Any], schema: dict[str, Any] | None, now: int | None) -> RawScan:
        return self._client._raw.scan(self._call, arguments, schema, self._splits, is_task=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the body and the client, whose pickle has no token."""
        given = self._client, self._call, self._raw.body(0), self._schema, self.id, self._splits
        return self._from_body, given

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}: {self._described()}; {self._client!r})"


def _arguments_of(body: dict[str, Any], client: ScanClient) -> dict[str, Any]:
    """The arguments that make a request body again."""
    attrs, filters = body["attrs"], deepcopy(body["filters"])
    for condition in (condition for group in filters["OR"] for condition in group["AND"]):
        if condition["data_type"] == "datetime":
            # A datetime, as numbers that may be seconds are refused.
            condition["value"] = _EPOCH + timedelta(milliseconds=condition["value"])
    return {
        "item_type_name": body["itemTypeName"],
        "item_type_id": body["itemTypeId"],
        "attrs": attrs.split(",") if isinstance(attrs, str) else attrs,
        "attrs_format": "string" if isinstance(attrs, str) else "array",
        "where": filters,
        "limit": None,
        "known_row_cap": client._settings["known_row_cap"],
    }


def asked_zone(tz: ResultZone) -> str | None:
    """The time zone that `tz` names; None for its default and for None."""
    return None if tz is CLIENT_ZONE else time_zone("tz", tz)
