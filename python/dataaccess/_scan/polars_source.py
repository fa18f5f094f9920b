"""The rows of a scan for a lazy query of polars, which says what it reads."""

from __future__ import annotations

import logging
from contextlib import closing, contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from dataaccess._core.optional import optional
from dataaccess._core.warn import caller
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.text import cell, counted
from dataaccess._scan.batch import Batch
from dataaccess._scan.outcome import warn_each
from dataaccess._scan.predicate import selected_by
from dataaccess._scan.pushdown import NoRowsError, check_types, narrowed
from dataaccess._scan.variants import next_batch
from dataaccess.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from dataaccess._scan.plan import Planned

_LOG = logging.getLogger("dataaccess.polars")
# The first major version of polars whose sources have a name.
_POLARS_MAJOR = 2
# Batches are larger than the usual ones: polars computes with each of them.
_MAX_ROWS, _MAX_BYTES = 65_536, 8 * 2**20
# Seconds without a batch, after which polars gets a frame without rows.
_PATIENCE = 0.1
# Seconds after which the requests of a query end that needs no more rows.
_RELEASE = 0.5
_MAX_PREDICATE = 200


class Source:
    """What polars calls for the schema and for the rows of a query, in any thread."""

    def __init__(self, scan: Planned) -> None:
        """Checks that the scan can be read batch by batch, and that polars is new enough."""
        scan._check_streamed()  # noqa: SLF001 - of this package
        polars = optional("polars", "polars")
        if int(polars.__version__.partition(".")[0]) < _POLARS_MAJOR:
            raise ImportError(f"to_lazyframe needs polars 2.0, this is {polars.__version__}: pip install -U polars")
        self._polars = polars
        self._scan = scan
        self._raw = scan._raw  # noqa: SLF001 - likewise
        self._lock = Lock()
        self._types: dict[str, str] | None = None
        # polars reads in threads of its own, without a line of the user.
        self._line = caller()

    def lazyframe(self) -> pl.LazyFrame:
        """A query of all rows."""
        from polars.io.plugins import register_io_source

        name, requests = self._raw.body(0)["itemTypeName"], counted(self._raw.requests, "request")
        shown = "scan.explain_query(lambda codes: codes.filter(…)) shows which are sent"
        return register_io_source(
            self,
            schema=self.schema,
            explain_name=self._scan._call,  # noqa: SLF001 - of this package
            explain_detail=f"{name} in {requests}; {shown}",
        )

    def schema(self) -> pl.Schema:
        """The types as polars has them."""
        types = {name: COLUMN_TYPES[kind].polars(self._polars) for name, kind in self.types().items()}
        schema: pl.Schema = self._polars.Schema(types)
        return schema

    def types(self) -> dict[str, str]:
        """The types of the columns. Inferred types are those of the first batch, and stay so."""
        with self._lock:
            if self._types is None:
                types = self._raw.types
                if "inferred" in types:
                    with closing(self._scan._open(None, None)) as stream:  # noqa: SLF001 - of this package
                        first = next_batch(stream)
                    # Without rows there are strings, as in other results.
                    types = ["string"] * len(types) if first is None else [kind for _, kind in first.types]
                self._types = dict(zip(self._raw.column_names, types, strict=True))
            return self._types

    def __call__(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The rows of a query."""
        scan, filters = self._narrowed(with_columns, predicate, n_rows)
        _LOG.debug(
            "%s: at most %d of %d requests, %d of %d columns, narrowed by %s",
            self._scan._call,  # noqa: SLF001 - of this package
            0 if scan is None else scan._raw.requests,  # noqa: SLF001 - likewise
            self._raw.requests,
            0 if scan is None else len(scan.column_names),
            len(self._raw.column_names),
            ", ".join(filters) or "nothing",
        )
        if scan is None:
            return
        # What a filter or the first rows may cause is no doubt about the scan.
        caused = {"AbsentAttributeWarning"} if filters else set()
        caused |= {"EmptyResultWarning"} if filters.keys() - {"limit"} else set()
        for frame in self._frames(scan, caused):
            selected = frame if predicate is None else frame.filter(predicate)
            yield selected.select(with_columns) if with_columns else selected

    def _frames(self, scan: Planned, caused: set[str]) -> Iterator[pl.DataFrame]:
        """The batches, and frames without rows while none comes: polars looks for Ctrl-C only between two frames."""
        empty = self._polars.DataFrame(schema=self.schema()).select(scan.column_names)
        stream = scan._open(_MAX_ROWS, _MAX_BYTES)  # noqa: SLF001 - of this package
        # It is closed twice, as polars may end this while a Ctrl-C is pending, which is raised in the first call.
        with self._released(), closing(stream), closing(stream):
            while not stream.ended:
                batch = stream.take(_PATIENCE)
                yield empty if batch is None else Batch(batch).to_polars()
            if (outcome := stream.stats) is not None:
                warn_each([each for each in outcome["warnings"] if each["category"] not in caused], self._line)

    @contextmanager
    def _released(self) -> Iterator[None]:
        """Ends the block when polars needs no more of its rows.

        polars lets go of it in a thread without Python, which takes effect with the next call of polars from Python: a
        thread makes one from time to time.
        """
        ended = Event()

        def call() -> None:
            while not ended.wait(_RELEASE):
                self._polars.thread_pool_size()

        Thread(target=call, name="dataaccess-polars", daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def _narrowed(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None
    ) -> tuple[Planned | None, dict[str, Any]]:
        """The scan of the rows that a query reads, None if there are none; and the arguments that select them."""
        scan, names = self._scan, self._raw.column_names
        needed = {*(with_columns or names), *(() if predicate is None else predicate.meta.root_names())}
        columns = [name for name in names if name in needed]
        if n_rows == 0:
            return None, {"limit": 0}
        filters: dict[str, Any] = {}
        if n_rows is not None:
            # polars counts these rows before it filters them.
            limit = scan._limit  # noqa: SLF001 - of this package
            filters = {"limit": n_rows if limit is None else min(n_rows, limit)}
        elif predicate is not None:
            selected = selected_by(predicate)
            check_types(self.types(), selected)
            try:
                found = narrowed(scan, self.types(), selected)
                return self._with({"attrs": columns, **found}), found
            except NoRowsError:
                return None, {"no rows": True}
            except ValidationError:
                # A value that no request takes, such as an empty id: polars filters.
                pass
        return self._with({"attrs": columns, **filters}), filters

    def _with(self, changed: dict[str, Any]) -> Planned:
        """The scan with other arguments. Inferred types are those that polars knows by now."""
        scan, types = self._scan, self.types()
        schema = {name: kind for name, kind in (scan._schema or {}).items() if name in changed["attrs"]}  # noqa: SLF001 - of this package
        fixed = zip(self._raw.column_names, self._raw.types, strict=True)
        schema |= {name: types[name] for name, kind in fixed if kind == "inferred" and name in changed["attrs"]}
        arguments = {**scan._arguments, **changed}  # noqa: SLF001 - likewise
        return type(scan)(scan._client, scan._call, arguments, schema, scan._ordered)  # noqa: SLF001 - likewise


class Explained(Source):
    """Describes the requests of a query in place of sending them."""

    def __init__(self, scan: Planned) -> None:
        """Has no texts yet."""
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
