"""Scans that lazy queries read, of polars. What serves the queries is loaded with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.plan import Planned
from dataaccess._scan.schema import NAME
from dataaccess.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import polars as pl

    from dataaccess._native import RawScan
    from dataaccess._scan.polars_source import Narrowed, Query
    from dataaccess._scan.selected import Selected
    from dataaccess._types import ResultZone


class AsyncLazySource(Planned):
    """Scans that polars cannot read: its queries do not await. `_core.advice` says so."""


@short_tracebacks
class LazySource(Planned):
    """Scans that lazy queries of polars read."""

    def to_lazyframe(self, *, tz: ResultZone = CLIENT_ZONE) -> pl.LazyFrame:
        """Returns the rows as a polars LazyFrame (extra `polars`), whose queries request only what they read.

        Each query sends its own requests, and reads them batch by batch: `collect(engine="streaming")` and
        `sink_parquet` take more rows than fit into memory. Requested are

        - only the columns that the query names;
        - only the first rows, for `head(n)` and `limit(n)` before any filter;
        - of promotion codes only those that a filter selects by `code_status`, `allocated_audience` (and with it
          `audience_type`) or the day of `allocated_time`, of customers those it selects by `customer_id`: by `==`,
          `is_in`, `<`, `>=` and the like, joined by `&` or by several filters.

        polars applies all filters to the rows that come back, so a query returns what it would for `to_polars()`.
        `explain_query` shows the requests of a query. `last_stats` has the statistics of the last query that was read
        to its end.

        Args:
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one: then `pl.col("allocated_time").dt.date() == day` selects the day of the client, in one
                request. None leaves times as the service wrote them, without a zone.

        Returns:
            A LazyFrame. Where types are inferred, they are those of the first batch, for which a request is sent before
            the first query; `schema=` avoids it.

        Raises:
            ImportError: polars is not installed, or older than 2.0.
            ValidationError: `tz` is not a time zone, or the scan was made with `on_suspected_cap="split"`.

        Examples:
            >>> import dataaccess as da
            >>> import polars as pl
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> codes = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-04-01")).to_lazyframe()
            >>> used = codes.filter(pl.col("code_status") == da.CodeStatus.USED).group_by("pool_id").len()
            >>> used.sort("pool_id").collect().rows()
            [(901, 590), (902, 608), (903, 586)]
        """
        from dataaccess._scan.polars_source import Source

        scan = self._in_zone_of_files(tz)
        self._check_streamed()
        return Source(scan, self._call, self._decoded(), self._narrowed).lazyframe()

    def explain_query(self, query: Callable[[pl.LazyFrame], pl.LazyFrame], *, tz: ResultZone = CLIENT_ZONE) -> str:
        """Returns the requests of a query as text: the plan as `explain` shows it, and what polars itself filters.

        The query runs on no rows, so it sends nothing, except for types that are inferred.

        Args:
            query: A function that makes the query from the LazyFrame of this scan.
            tz: As in `to_lazyframe`.

        Returns:
            Some lines for `print`, for each time that the query reads the scan.

        Raises:
            ImportError: polars is not installed, or older than 2.0.
            ValidationError: The scan was made with `on_suspected_cap="split"`, or the query compares integers with
                names.
            TypeError: `query` is not a function.

        Examples:
            >>> import dataaccess as da
            >>> import polars as pl
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(allocated_time=da.since("2024-01-01"))
            >>> print(scan.explain_query(lambda codes: codes.filter(pl.col("code_status") == 4).select("id")))
            promotion_code (-100) in 1 request, days and times in UTC
            service filters: code_status matches USED (4)
                             allocated_time after_date DAY of 2023-12-31 23:59:59.999 (since 2024-01-01)
            columns:         id string, code_status int64
            polars filters:  [(col("code_status")) == (4)]
        """
        from dataaccess._scan.polars_source import Explained

        if not callable(query):
            raise TypeError(
                f"explain_query takes a function that makes the query, not a {type(query).__name__}: write "
                "scan.explain_query(lambda codes: codes.filter(…))"
            )
        scan = self._in_zone(tz)
        self._check_streamed()
        source = Explained(scan, self._call, self._decoded(), self._narrowed)
        query(source.lazyframe()).collect()
        return "\n\n".join(source.texts)

    def _decoded(self) -> set[str]:
        """The columns that have names in place of numbers."""
        return {name for name, kind in (self._schema or {}).items() if kind == NAME}

    def _narrowed(self, scan: RawScan, query: Query) -> Narrowed:
        """The requests of a query: they return each row that it reads, and maybe others, which polars filters."""
        from dataaccess._scan.polars_source import Narrowed
        from dataaccess._scan.pushdown import NoRowsError, check_types

        by: dict[str, Any] = {}
        nothing = Narrowed(None, lambda: "no request: the scan has no such rows", {"no rows": True})
        if query.n_rows == 0:
            return nothing
        if query.n_rows is not None:
            by = {"limit": query.n_rows if self._limit is None else min(query.n_rows, self._limit)}
        elif query.selected is not None:
            check_types(query.types, query.selected)
            try:
                is_exact = scan.result_zone is not None and scan.result_zone == self._raw.result_zone
                by = self._changed_by(query.selected, query.types, is_exact=is_exact)
                return self._made(scan, query, by)
            except NoRowsError:
                return nothing
            except ValidationError:
                # A value that no request takes, such as an empty id: polars filters.
                by = {}
        return self._made(scan, query, by)

    def _changed_by(self, selected: Selected, types: dict[str, str], *, is_exact: bool) -> dict[str, Any]:
        """The arguments that change as only these rows are read."""
        from dataaccess._scan.pushdown import Clocks, narrowed

        bodies = self._raw.body(0), self._raw.body(self._raw.requests - 1)
        clocks = Clocks(self._client._raw.wall_clock, is_exact=is_exact)
        return narrowed(self._call, self._arguments, bodies, clocks, types, selected)

    def _made(self, scan: RawScan, query: Query, by: dict[str, Any]) -> Narrowed:
        """The scan with other arguments. Inferred types are those that are known by now."""
        from dataaccess._scan.polars_source import Narrowed

        fixed = zip(self._raw.column_names, self._raw.types, strict=True)
        schema = {**(self._schema or {}), **{name: query.types[name] for name, kind in fixed if kind == "inferred"}}
        schema = {name: kind for name, kind in schema.items() if name in query.columns}
        arguments = {**self._arguments, "attrs": query.columns, **by}
        made = type(self)(self._client, self._call, arguments, schema, self._ordered, now=self._raw.now)
        # The statistics of a query belong to this scan.
        made._raw = made._raw.for_use_of(scan)
        return Narrowed(made._raw, made.explain, by)
