"""What scans and tasks share: everything that does not wait."""

from __future__ import annotations

from copy import copy, deepcopy
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dataaccess._core.arguments import MOST, amount, flag
from dataaccess._scan.outcome import ScanStats, stats_of, warn_of
from dataaccess._scan.table import Table, in_short
from dataaccess.filters import kept

if TYPE_CHECKING:
    from dataaccess._client.base import Connection
    from dataaccess._native import RawScan, RawStream, RawTable
    from dataaccess.types import Schema

MAX_ROWS = 65_536
MAX_BYTES = 8 * 2**20

_SEARCH = "/access/api/item/search"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_Task = TypeVar("_Task", bound="Single")


class BaseScan:
    """What scans and tasks share: everything that does not wait."""

    _raw: RawScan
    _client: Connection
    _call: str
    _schema: Schema | None

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        return self._raw.column_names

    @property
    def stats(self) -> ScanStats | None:
        """The figures of the last use whose answers were read to their end; None before."""
        told = self._raw.stats
        return None if told is None else stats_of(told)

    def explain(self) -> list[dict[str, Any]]:
        """The exact requests it sends, in the order of their rows. Sends nothing.

        Returns:
            A list of dicts with `method`, `url` and `body`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> requests = scan.explain()
            >>> len(requests), requests[0]["body"]["attrs"]
            (91, ['id'])
        """
        url = self._client.base_url + _SEARCH
        return [{"method": "POST", "url": url, "body": self._raw.body(index)} for index in range(self._raw.requests)]

    def _open(self, max_rows: int, max_bytes: int) -> RawStream:
        return self._raw.open(amount("max_rows", max_rows), amount("max_bytes", max_bytes))


class Planned(BaseScan):
    """What both kinds of scan share."""

    def __init__(
        self,
        client: Connection,
        call: str,
        arguments: dict[str, Any],
        schema: Schema | None,
        ordered: bool,  # noqa: FBT001 - as it was pickled
    ) -> None:
        """Checks the arguments; sends nothing."""
        self._client = client
        self._call = call
        # As they are now: an iterator can be read only once, and a list could change.
        self._arguments = {name: kept(value) for name, value in arguments.items()}
        self._schema = copy(schema)
        self._ordered = flag("ordered", ordered)
        make = client._raw.scan_codes if call == "scan_codes" else client._raw.scan_items  # noqa: SLF001 - its other half
        self._raw = make(self._arguments, self._schema, self._ordered)

    def _tasks(self, kind: type[_Task]) -> list[_Task]:
        made = (self._raw.task(index) for index in range(self._raw.requests))
        return [kind(self._client, self._call, raw, self._schema, name) for raw, name in made]

    def _run_options(self, fail_fast: object, suspect_at: object) -> tuple[str, bool, int | None]:
        """What a run is asked for: the service, as the embedded one has another port each time, and the options."""
        most = None if suspect_at is None else amount("suspect_at", suspect_at)
        return self._client._address or self._client.base_url, flag("fail_fast", fail_fast), most  # noqa: SLF001 - its other half

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles what was asked for and the client, which never takes its token along."""
        return type(self), (self._client, self._call, self._arguments, self._schema, self._ordered)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback may show a scan whose arguments were refused.
            return f"{type(self).__name__}(unfinished)"
        requests = "" if self._raw.requests == 1 else f", {self._raw.requests:,} requests"
        return f"{type(self).__name__}({self._call} of {in_short(self.column_names)}{requests}; {self._client!r})"


class Single(BaseScan):
    """What both kinds of task share: one request of a scan.

    Attributes:
        id: Its name: the same for the same request at the same place of its scan, whenever that is made.
    """

    id: str

    def __init__(self, client: Connection, call: str, raw: RawScan, schema: Schema | None, name: str) -> None:
        """Made by `tasks` of a scan."""
        self._client, self._call, self._raw, self._schema, self.id = client, call, raw, schema, name

    @classmethod
    def _sent(cls, client: Connection, call: str, body: dict[str, Any], schema: Schema | None, name: str) -> Self:
        """The task of a body, on the other side of a pickle."""
        attrs = body["attrs"]
        arguments = {
            "item_type_name": body["itemTypeName"],
            "item_type_id": body["itemTypeId"],
            "attrs": attrs.split(",") if isinstance(attrs, str) else attrs,
            "attrs_as": "text" if isinstance(attrs, str) else "array",
            "where": _with_times(body["filters"]),
            "chunk": MOST,
        }
        return cls(client, call, client._raw.scan_task(call, arguments, schema), schema, name)  # noqa: SLF001 - its other half

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the body and the client, which never takes its token along."""
        return self._sent, (self._client, self._call, self._raw.body(0), self._schema, self.id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}: {self._call} of {in_short(self.column_names)}; {self._client!r})"


def checked_table(raw: RawTable) -> Table:
    """A table; warns of what is doubtful."""
    warn_of(raw.stats)
    return Table(raw)


def _with_times(filters: dict[str, Any]) -> dict[str, Any]:
    """Filters as sent, with times for what would be refused as a number that a caller hardly means as one."""
    filters = deepcopy(filters)
    for condition in (condition for group in filters["OR"] for condition in group["AND"]):
        if condition["data_type"] == "datetime":
            condition["value"] = _EPOCH + timedelta(milliseconds=condition["value"])
    return filters
