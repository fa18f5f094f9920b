"""Scans as sources of polars' lazy queries, which request only what a query reads."""

from __future__ import annotations

import logging
from threading import Lock
from typing import TYPE_CHECKING, Any

from dataaccess._core.optional import optional
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._scan.plan import Planned
from dataaccess._display.text import cell, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    import polars as pl

    from dataaccess._scan.synchronous.batches import Batches

# The first major version of polars whose sources have a name.
_POLARS_MAJOR = 2
# Batches are larger than the usual ones: polars computes with each of them.
_MAX_ROWS, _MAX_BYTES = 65_536, 8 * 2**20
# Seconds without a batch, after which polars gets a frame without rows.
_PATIENCE = 0.1
_MAX_PREDICATE = 200


class AsyncLazySource(Planned):
    """Scans that polars cannot read: its queries do not await."""


@short_tracebacks
class LazySource(Planned):
    """Scans that lazy queries of polars read."""

    def to_lazyframe(self) -> pl.LazyFrame:
        """Returns the rows as a polars LazyFrame (extra `polars`), whose queries request only what they read.

        Each query sends its own requests, and reads them batch by batch: `collect(engine="streaming")` and
        `sink_parquet` take more rows than fit into memory. Requested are

        - only the columns that the query names;
        - only the first rows, for `head(n)` and `limit(n)` before any filter;
        - of promotion codes only those that a filter selects by `code_status`, `allocated_audience` (and with it
          `audience_type`) or the day of `allocated_time`, of customers those it selects by `customer_id`: by `==`,
          `is_in`, `<`, `>=` and the like, joined by `&` or by several filters.

        polars applies all filters to the rows that come back, so a query returns what it would for `to_polars()`.
        `explain_query` shows the requests of a query.

        Returns:
            A LazyFrame. Where types are inferred, they are those of the first batch, for which a request is sent before
            the first query; `schema=` avoids it.

        Raises:
            ImportError: polars is not installed, or older than 2.0.
            ValidationError: The scan was made with `on_suspected_cap="split"`.

        Example:
            >>> import dataaccess as da
            >>> import polars as pl
            >>> client = da.Client("sandbox:demo")
            >>> codes = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-04-01")).to_lazyframe()
            >>> used = codes.filter(pl.col("code_status") == da.CodeStatus.USED).group_by("pool_id").len()
            >>> used.sort("pool_id").collect().rows()
            [(901, 590), (902, 608), (903, 586)]
        """
        return self._source(_Source(self))

    def explain_query(self, query: Callable[[pl.LazyFrame], pl.LazyFrame]) -> str:
        """Returns the requests of a query as text: the plan as `explain` shows it, and what polars itself filters.

        The query runs on no rows, so it sends nothing, except for types that are inferred.

        Args:
            query: A function that makes the query from the LazyFrame of this scan.

        Returns:
            Some lines for `print`, for each time that the query reads the scan.

        Raises:
            ImportError: polars is not installed, or older than 2.0.
            ValidationError: The scan was made with `on_suspected_cap="split"`.

        Example:
            >>> import dataaccess as da
            >>> import polars as pl
            >>> client = da.Client("sandbox:demo")
            >>> scan = client.scan_codes(allocated_time=da.since("2024-01-01"))
            >>> print(scan.explain_query(lambda codes: codes.filter(pl.col("code_status") == 4).select("id")))
            promotion_code (-100) in 1 request, days and times in UTC
            service filters: code_status matches USED (4)
                             allocated_time after_date DAY of 2023-12-31 23:59:59.999 (since 2024-01-01)
            columns:         id string, code_status int64
            polars filters:  [(col("code_status")) == (4)]
        """
        source = _Explained(self)
        query(self._source(source)).collect()
        return "\n\n".join(source.texts)

    def _source(self, source: _Source) -> pl.LazyFrame:
        self._check_streamed()
        polars = optional("polars", "polars")
        if int(polars.__version__.partition(".")[0]) < _POLARS_MAJOR:
            raise ImportError(f"polars {polars.__version__} has no named sources: pip install --upgrade polars")
        from polars.io.plugins import register_io_source

        name = self._raw.body(0)["itemTypeName"]
        detail = f"{name} in {counted(self._raw.requests, 'request')}; explain_query shows which of them a query sends"
        return register_io_source(source, schema=source.schema, explain_name=self._call, explain_detail=detail)

    def _narrowed(
        self, types: dict[str, str], columns: list[str], predicate: pl.Expr | None, n_rows: int | None
    ) -> tuple[Self | None, list[str]]:
        """The scan of the rows that a query reads, None if there are none; and the arguments that select them."""
        from dataaccess._scan.predicate import selected_by
        from dataaccess._scan.pushdown import NoRowsError, narrowed
        from dataaccess.errors import ValidationError

        filters: dict[str, Any] = {}
        if n_rows == 0:
            return None, ["limit"]
        if n_rows is not None:
            # polars counts these rows before it filters them.
            filters = {"limit": n_rows if self._limit is None else min(n_rows, self._limit)}
        elif predicate is not None:
            try:
                filters = narrowed(self, types, selected_by(predicate))
                return self._with({"attrs": columns, **filters}, types), list(filters)
            except NoRowsError:
                return None, ["no rows"]
            except ValidationError:
                # A value that no request takes, such as an empty id: polars filters.
                filters = {}
        return self._with({"attrs": columns, **filters}, types), list(filters)

    def _with(self, changed: dict[str, Any], types: dict[str, str]) -> Self:
        schema = {name: kind for name, kind in (self._schema or {}).items() if name in changed["attrs"]}
        # Inferred types are those that polars knows by now.
        fixed = zip(self.column_names, self._raw.types, strict=True)
        schema |= {name: types[name] for name, kind in fixed if kind == "inferred" and name in changed["attrs"]}
        return type(self)(self._client, self._call, {**self._arguments, **changed}, schema, self._ordered)


class _Source:
    """What polars calls for the schema and for the rows of a query, in any thread."""

    def __init__(self, scan: LazySource) -> None:
        self._scan = scan
        self._lock = Lock()
        self._types: dict[str, str] | None = None

    def types(self) -> dict[str, str]:
        """The types of the columns. Inferred types are those of the first batch, and stay so."""
        with self._lock:
            if self._types is None:
                names, types = self._scan.column_names, self._scan._raw.types  # noqa: SLF001 - of this module
                if "inferred" in types:
                    with _batches(self._scan) as batches:
                        # Without rows there are strings, as in other results.
                        first = next(batches, None)
                    types = ["string"] * len(types) if first is None else list(first.schema.values())
                self._types = dict(zip(names, types, strict=True))
        return self._types

    def schema(self) -> pl.Schema:
        """The types as polars has them."""
        polars = optional("polars", "polars")
        others = {
            "int64": polars.Int64,
            "float64": polars.Float64,
            "bool": polars.Boolean,
            "timestamp": polars.Datetime("us"),
        }
        schema: pl.Schema = polars.Schema(
            {name: others.get(kind, polars.String) for name, kind in self.types().items()}
        )
        return schema

    def __call__(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The rows of a query."""
        scan, filters = self._narrowed(with_columns, predicate, n_rows)
        logging.getLogger("dataaccess.polars").debug(
            "%s: at most %d of %d requests, %d of %d columns, narrowed by %s",
            self._scan._call,  # noqa: SLF001 - of this module
            0 if scan is None else scan._raw.requests,  # noqa: SLF001 - likewise
            self._scan._raw.requests,  # noqa: SLF001 - likewise
            0 if scan is None else len(scan.column_names),
            len(self._scan.column_names),
            ", ".join(filters) or "nothing",
        )
        if scan is None:
            return
        for frame in self._frames(scan):
            selected = frame if predicate is None else frame.filter(predicate)
            yield selected.select(with_columns) if with_columns else selected

    def _frames(self, scan: LazySource) -> Iterator[pl.DataFrame]:
        """The batches, and frames without rows while none comes: polars looks for Ctrl-C only between two frames."""
        from concurrent.futures import ThreadPoolExecutor, wait

        empty = optional("polars", "polars").DataFrame(schema=self.schema()).select(scan.column_names)
        opened = _batches(scan, _MAX_ROWS, _MAX_BYTES)
        # Closing the batches ends the wait for the next one, and so the thread. They are closed twice, as polars may
        # end this while a Ctrl-C is pending, which is raised in the first call.
        with ThreadPoolExecutor(1, "dataaccess-polars") as thread, opened as batches, opened:
            while True:
                batch = thread.submit(next, batches, None)
                while not wait([batch], _PATIENCE).done:
                    yield empty
                if (rows := batch.result()) is None:
                    return
                yield rows.to_polars()

    def _narrowed(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None
    ) -> tuple[LazySource | None, list[str]]:
        """The scan of the rows and columns that a query reads."""
        names = self._scan.column_names
        needed = {*(with_columns or names), *(() if predicate is None else predicate.meta.root_names())}
        columns = [name for name in names if name in needed]
        return self._scan._narrowed(self.types(), columns, predicate, n_rows)  # noqa: SLF001 - of this module


class _Explained(_Source):
    """Describes the requests of a query in place of sending them."""

    def __init__(self, scan: LazySource) -> None:
        super().__init__(scan)
        self.texts: list[str] = []

    def __call__(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """No rows."""
        scan, _ = self._narrowed(with_columns, predicate, n_rows)
        text = "no request: the scan has no such rows" if scan is None else scan.explain()
        filters = "" if predicate is None else f"\npolars filters:  {cell(predicate, _MAX_PREDICATE)}"
        self.texts.append(text + filters)
        return iter(())


def _batches(scan: LazySource, max_rows: int | None = None, max_bytes: int | None = None) -> Batches:
    from dataaccess._scan.synchronous.batches import Batches

    return Batches(scan._open(max_rows, max_bytes))  # noqa: SLF001 - of this module
