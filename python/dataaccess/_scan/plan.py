"""The parts of scans and tasks that send nothing: arguments, the requests they become, pickles."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from dataaccess._contract import SEARCH_PATH
from dataaccess._core.checks import MAX_INTEGER, boolean_argument, choice, count, duration, invalid, time_zone
from dataaccess._core.suggest import Suggesting
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._display.text import cell, shorten
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.outcome import progress_of, stats_of, warn_of, warn_without_times
from dataaccess._scan.schema import type_names, with_declared
from dataaccess.filters._values import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, Self, TypeVar

    from dataaccess._display.plan import Plan
    from dataaccess._native import RawScan, RawStream, RawTable
    from dataaccess._scan.client import ScanClient
    from dataaccess._scan.table import Table
    from dataaccess._types import Request, ResultZone, Schema
    from dataaccess.reports import Progress, ScanStats

    _Task = TypeVar("_Task", bound="Single")


# The default size of a batch, in rows and bytes: small enough for the cache of a processor core; larger where the first
# batch has to show the types.
BATCH = (8_192, 2 * 2**20)
LARGE_BATCH = (65_536, 8 * 2**20)

# Seconds after which a day is final, unless a run says otherwise.
_SETTLE = 3600

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@short_tracebacks
class BaseScan(Suggesting):
    """The common part of scans and tasks."""

    _raw: RawScan
    _client: ScanClient
    _call: str
    _schema: dict[str, Any] | None
    _limit: int | None = None
    _splits: bool = False

    if not TYPE_CHECKING:  # so that type checkers report these operators

        def __len__(self) -> NoReturn:
            """Raises a `TypeError` that says what to write."""
            from dataaccess._core.advice import LENGTH

            raise TypeError(LENGTH)

        def __getitem__(self, key: object) -> NoReturn:
            """Raises a `TypeError` that says what to write."""
            from dataaccess._core.advice import ITEM

            raise TypeError(ITEM)

        def serialize(self) -> NoReturn:
            """Raises a `TypeError` that says what to return. Airflow calls it for a value that goes to XCom.

            Examples:
                >>> import dataaccess as da
                >>> client = da.Client("sandbox:demo?until=2024-02-29")
                >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
                >>> scan.serialize()
                Traceback (most recent call last):
                ...
                TypeError: a scan or task does not go to XCom: return its rows by to_dicts(), ...
            """
            from dataaccess._core.advice import SCAN_TO_XCOM

            raise TypeError(SCAN_TO_XCOM)

    def __bool__(self) -> bool:
        """True, whether or not there are rows: nothing is sent."""
        return True

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self._raw.column_names

    @property
    def schema(self) -> dict[str, str]:
        """Types of the columns by name, as `schema=` takes them; "inferred" where the first rows decide."""
        return dict(zip(self.column_names, self._raw.types, strict=True))

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

    def explain(self, *, settle: float | timedelta = _SETTLE) -> str:
        """Returns the plan as text: the number of requests, the conditions of the service, the columns. Sends nothing.

        `requests` returns the exact requests.

        Args:
            settle: As in `to_folder`: a day counts as over only so long after its end.

        Returns:
            Some lines for `print`. Times of conditions are shown in the time zone of the client; the first line names
            the zones of days, results and records.

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
        from dataaccess._display.plan import plan_text

        return plan_text(self._plan(duration("settle", settle)))

    def __str__(self) -> str:
        """The plan, as `explain` returns it: what `print(scan)` shows."""
        return self.explain() if hasattr(self, "_raw") else repr(self)

    def _repr_html_(self) -> str:
        """The plan for notebooks. Sends nothing."""
        from dataaccess._display.plan import plan_html

        return plan_html(self._plan())

    def _plan(self, settle: float = _SETTLE) -> Plan:
        from dataaccess._scan.explain import Zones, plan_of

        bodies = self._raw.body(0), self._raw.body(self._raw.requests - 1)
        columns = list(self.schema.items())
        client = self._client
        clock = client._raw.wall_clock
        open_days = self._raw.open_days(settle)
        zones = Zones(client.timezone, self._raw.source_zone, self._raw.result_zone)
        days = client.day_comparison, clock
        return plan_of(self._raw.requests, *bodies, columns, zones, days, self._limit, open_days)

    def _progress(self) -> Callable[[dict[str, Any]], Progress]:
        """Makes the progress of a use that begins now."""
        return progress_of(self._client)

    def _waits_for(self) -> str | None:
        """Why a call of its client waits to retry."""
        return self._client._raw.waits_for()

    def _described(self) -> str:
        """The call, the object if the call does not say it, and the columns."""
        name = "" if self._call == "scan_codes" else f"{cell(self._raw.body(0)['itemTypeName'])}: "
        return f"{self._call} of {name}{shorten(self.column_names)}"

    def _in_zone(self, tz: ResultZone) -> RawScan:
        """The scan whose results have the times that `tz=` asks for."""
        return self._raw if tz is CLIENT_ZONE else self._raw.in_zone(time_zone("tz", tz))

    def _in_zone_of_files(self, tz: ResultZone) -> RawScan:
        """As `_in_zone`, for uses whose columns are not seen here: warns of a `tz=` that changes nothing."""
        scan = self._in_zone(tz)
        if "inferred" not in self._raw.types:
            warn_without_times(asked_zone(tz), list(zip(self._raw.column_names, self._raw.types, strict=True)))
        return scan

    def _open(self, max_rows: int | None, max_bytes: int | None, tz: ResultZone) -> RawStream:
        scan = self._in_zone(tz)
        self._check_streamed()
        rows, size = LARGE_BATCH if "inferred" in self._raw.types else BATCH
        return scan.open(
            rows if max_rows is None else count("max_rows", max_rows),
            size if max_bytes is None else count("max_bytes", max_bytes),
        )

    def _counted(self) -> Self:
        """What is requested to count the rows."""
        return self

    def _check_streamed(self) -> None:
        """Raises if rows are requested one by one although requests may still be split."""
        if self._splits:
            message = (
                "rows that come batch by batch cannot be exchanged for the parts of a request: use collect, a to_ "
                'method or run, or make the scan without "split"'
            )
            raise invalid("on_suspected_cap", message, "split")


class Planned(BaseScan):
    """The common part of both kinds of scan."""

    def __init__(
        self,
        client: ScanClient,
        call: str,
        arguments: dict[str, Any],
        schema: Schema | None,
        ordered: bool,
        on_suspected_cap: str = "warn",
        decode_status: bool = False,
        now: int | None = None,
    ) -> None:
        """Checks the arguments; sends nothing. `now` is the time of the scan that this one is made of."""
        self._client = client
        self._call = call
        # A copy: an iterator can be read only once, and a list could change.
        self._arguments: dict[str, Any] = {name: snapshot(value) for name, value in arguments.items()}
        names = type_names(schema, decoded=boolean_argument("decode_status", decode_status))
        self._schema = with_declared(names, self._arguments.get("known_attributes"), self._arguments["attrs"])
        self._limit = arguments["limit"]
        self._ordered = boolean_argument("ordered", ordered)
        self._splits = choice("on_suspected_cap", on_suspected_cap, ("warn", "split")) == "split"
        if self._splits and self._limit is not None:
            raise invalid("on_suspected_cap", "a limit cuts responses itself: leave limit out", "split")
        make = client._raw.scan_codes if call == "scan_codes" else client._raw.scan_items
        self._raw = make(self._arguments, self._schema, self._ordered, self._splits, now)

    def _counted(self) -> Self:
        """The scan with one attribute: the time that it selects by, so that rows of other days are reported."""
        conditions = [condition for group in self._raw.body(0)["filters"]["OR"] for condition in group["AND"]]
        times = [condition["column"] for condition in conditions if condition["data_type"] == "datetime"]
        names = self.column_names
        attribute = next((name for name in times if name in names), names[0])
        # Any value fits the type "json".
        arguments = {**self._arguments, "attrs": [attribute]}
        return type(self)(self._client, self._call, arguments, {attribute: "json"}, self._ordered)

    def _tasks(self, kind: type[_Task]) -> list[_Task]:
        planned = (self._raw.task(index) for index in range(self._raw.requests))
        timeout, cap = self._arguments["timeout"], self._arguments["known_row_cap"]
        given = self._client, self._call
        return [kind(*given, raw, self._schema, name, timeout, cap, self._splits) for raw, name in planned]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments and the client, whose pickle has no token."""
        cap = "split" if self._splits else "warn"
        given = self._client, self._call, self._arguments, self._schema, self._ordered, cap
        # Days from today on stay what they were, and the schema is decoded.
        return type(self), (*given, False, self._raw.now)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback with locals may show a scan whose arguments were refused.
            return f"{type(self).__name__}(unfinished)"
        requests = "" if self._raw.requests == 1 else f", {self._raw.requests:,} requests"
        return f"{type(self).__name__}({self._described()}{requests}; {self._client!r})"


class Single(BaseScan):
    """The common part of both kinds of task: one request of a scan.

    Attributes:
        id: Identifies the request: the same for the same request at the same position of its scan.
    """

    id: str

    def __init__(
        self,
        client: ScanClient,
        call: str,
        raw: RawScan,
        schema: dict[str, Any] | None,
        name: str,
        timeout: float | None,
        known_row_cap: int | None,
        splits: bool,
    ) -> None:
        """Use `tasks` of a scan."""
        self._client, self._call, self._raw, self._schema, self.id = client, call, raw, schema, name
        self._timeout, self._known_row_cap, self._splits = timeout, known_row_cap, splits

    @classmethod
    def _from_body(
        cls,
        client: ScanClient,
        call: str,
        body: dict[str, Any],
        schema: dict[str, Any] | None,
        name: str,
        timeout: float | None,
        known_row_cap: int | None,
        splits: bool,
    ) -> Self:
        """Makes the task of a request body, when a pickle is loaded."""
        attrs = body["attrs"]
        arguments = {
            "item_type_name": body["itemTypeName"],
            "item_type_id": body["itemTypeId"],
            "attrs": attrs.split(",") if isinstance(attrs, str) else attrs,
            "attrs_format": "string" if isinstance(attrs, str) else "array",
            "where": _with_datetimes(body["filters"]),
            "values_per_request": MAX_INTEGER,
            "timeout": timeout,
            "known_row_cap": known_row_cap,
        }
        raw = client._raw.scan_task(call, arguments, schema, splits)
        return cls(client, call, raw, schema, name, timeout, known_row_cap, splits)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the body and the client, whose pickle has no token."""
        rest = self.id, self._timeout, self._known_row_cap, self._splits
        return self._from_body, (self._client, self._call, self._raw.body(0), self._schema, *rest)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}: {self._described()}; {self._client!r})"


def asked_zone(tz: ResultZone) -> str | None:
    """The time zone that `tz=` names; None for its default and for None."""
    return None if tz is CLIENT_ZONE else time_zone("tz", tz)


def checked_table(raw: RawTable, tz: ResultZone, *, is_of_files: bool = False) -> Table:
    """A table. Warns of what is doubtful in the data, and of a `tz=` that changes nothing."""
    from dataaccess._scan.table import Table

    warn_of(raw.stats)
    warn_without_times(asked_zone(tz), raw.types)
    return Table(raw, is_of_files=is_of_files)


def _with_datetimes(filters: dict[str, Any]) -> dict[str, Any]:
    """Filters as sent, with datetimes: the check refuses implausible numbers, which a datetime may become."""
    from copy import deepcopy

    filters = deepcopy(filters)
    for condition in (condition for group in filters["OR"] for condition in group["AND"]):
        if condition["data_type"] == "datetime":
            condition["value"] = _EPOCH + timedelta(milliseconds=condition["value"])
    return filters
