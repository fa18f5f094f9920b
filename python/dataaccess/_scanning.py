"""What both kinds of scan share: everything that does not wait."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from dataaccess._arguments import amount
from dataaccess._stats import ScanStats, stats_of, warn_of
from dataaccess._table import Table, in_short
from dataaccess.filters import kept

if TYPE_CHECKING:
    from dataaccess._connection import Connection
    from dataaccess._native import RawScan, RawStream, RawTable
    from dataaccess._types import Schema

MAX_ROWS = 65_536
MAX_BYTES = 8 * 2**20

_SEARCH = "/access/api/item/search"


class BaseScan:
    """What both kinds of scan share: everything that does not wait."""

    _raw: RawScan

    def __init__(self, client: Connection, call: str, arguments: dict[str, Any], schema: Schema | None) -> None:
        """Checks the arguments; sends nothing."""
        self._client = client
        self._call = call
        # As they are now: an iterator can be read only once, and a list could change.
        self._arguments = {name: kept(value) for name, value in arguments.items()}
        self._schema = copy(schema)
        make = client._raw.scan_codes if call == "scan_codes" else client._raw.scan_items  # noqa: SLF001 - its other half
        self._raw = make(self._arguments, self._schema)

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        return self._raw.column_names

    @property
    def stats(self) -> ScanStats | None:
        """The figures of the last use whose answer was read to its end; None before."""
        told = self._raw.stats
        return None if told is None else stats_of(told)

    def explain(self) -> list[dict[str, Any]]:
        """The exact requests it sends, as dicts. Sends nothing.

        Returns:
            A list of dicts with `method`, `url` and `body`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> (request,) = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).explain()
            >>> request["body"]["attrs"]
            ['id']
        """
        return [{"method": "POST", "url": self._client.base_url + _SEARCH, "body": self._raw.body}]

    def _open(self, max_rows: int, max_bytes: int) -> RawStream:
        return self._raw.open(amount("max_rows", max_rows), amount("max_bytes", max_bytes))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles what was asked for and the client, which never takes its token along."""
        return type(self), (self._client, self._call, self._arguments, self._schema)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback may show a scan whose arguments were refused.
            return f"{type(self).__name__}(unfinished)"
        return f"{type(self).__name__}({self._call} of {in_short(self.column_names)}; {self._client!r})"


def checked_table(raw: RawTable) -> Table:
    """A table; warns of what is doubtful."""
    warn_of(raw.stats)
    return Table(raw)
