"""The rows of a scan for a lazy query of polars, which says what it reads."""

from __future__ import annotations

import logging
from contextlib import closing, contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from dataaccess._core.optional import optional
from dataaccess._core.warn import caller
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.text import cell, counted
from dataaccess._scan.batch import Batch
from dataaccess._scan.frames import enum_of
from dataaccess._scan.outcome import warn_each
from dataaccess._scan.plan import LARGE_BATCH
from dataaccess._scan.predicate import selected_by
from dataaccess._scan.variants import next_batch
from dataaccess.errors import ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from dataaccess._native import RawScan
    from dataaccess._scan.selected import Selected

_LOG = logging.getLogger("dataaccess.polars")
# The first major version of polars whose sources have a name.
_POLARS_MAJOR = 2
# Seconds without a batch, after which polars gets a frame without rows.
_PATIENCE = 0.1
# Seconds after which the requests of a query end that needs no more rows.
_RELEASE = 0.5
_MAX_PREDICATE = 200


class Narrowed(NamedTuple):
    """The requests of one query.

    Attributes:
        raw: The scan that sends them; None if no row can be selected.
        explain: Shows them as text.
        by: The arguments of the scan that are others because of the query.
    """

    raw: RawScan | None
    explain: Callable[[], str]
    by: dict[str, Any]


class Query(NamedTuple):
    """What a query reads.

    Attributes:
        columns: The columns, also those that only its filter names.
        selected: What its filter says about rows.
        n_rows: The number of its first rows, if it reads no others; polars counts them before it filters.
        types: The types of all columns of the scan.
    """

    columns: list[str]
    selected: Selected | None
    n_rows: int | None
    types: dict[str, str]


class Source:
    """What polars calls for the schema and for the rows of a query, in any thread."""

    def __init__(
        self,
        raw: RawScan,
        call: str,
        decoded: set[str],
        narrowed: Callable[[RawScan, Query], Narrowed],
        bar: Callable[[], Any],
    ) -> None:
        """Checks that polars is new enough.

        Args:
            raw: The scan.
            call: The method that made it.
            decoded: The columns that have names in place of numbers.
            narrowed: Makes the requests of a query.
            bar: Makes the bar of a query.
        """
        polars = optional("polars")
        if int(polars.__version__.partition(".")[0]) < _POLARS_MAJOR:
            raise ImportError(f"to_lazyframe needs polars 2.0, this is {polars.__version__}: pip install -U polars")
        self._polars = polars
        self._raw, self._call, self._narrowed = raw, call, narrowed
        self._enums = {name: enum_of(polars, name) for name in raw.column_names if name in decoded}
        self._lock = Lock()
        self._types: dict[str, str] | None = None
        # polars reads in threads of its own, without a line of the user.
        self._line = caller()
        self._bar = bar

    def lazyframe(self) -> pl.LazyFrame:
        """A query of all rows."""
        from polars.io.plugins import register_io_source

        name, requests = self._raw.body(0)["itemTypeName"], counted(self._raw.requests, "request")
        shown = "scan.explain_query(lambda codes: codes.filter(…)) shows which are sent"
        return register_io_source(
            self,
            schema=self.schema,
            explain_name=self._call,
            explain_detail=f"{name} in {requests}; {shown}",
        )

    def schema(self) -> pl.Schema:
        """The types as polars has them."""
        types = {name: COLUMN_TYPES[kind].polars(self._polars) for name, kind in self.types().items()}
        if (zone := self._raw.result_zone) is not None:
            times = {name for name, kind in self.types().items() if kind == "timestamp"}
            types.update(dict.fromkeys(times, self._polars.Datetime("us", zone)))
        schema: pl.Schema = self._polars.Schema({**types, **self._enums})
        return schema

    def types(self) -> dict[str, str]:
        """The types of the columns. Inferred types are those of the first batch, and stay so."""
        with self._lock:
            if self._types is None:
                types = self._raw.types
                if "inferred" in types:
                    with closing(self._raw.open(*LARGE_BATCH)) as stream:
                        first = next_batch(stream)
                    # Without rows there are strings, as in other results.
                    types = ["string"] * len(types) if first is None else [kind for _, kind in first.types]
                self._types = dict(zip(self._raw.column_names, types, strict=True))
            return self._types

    def __call__(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The rows of a query. polars calls it in the thread that runs the query, and reads in another one."""
        from dataaccess._core.interrupt import ends_at_interrupt

        return self._selected(with_columns, predicate, n_rows, ends_at_interrupt=ends_at_interrupt())

    def _selected(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, *, ends_at_interrupt: bool
    ) -> Iterator[pl.DataFrame]:
        raw, _, by = self.narrowed(with_columns, predicate, n_rows)
        _LOG.debug(
            "%s: at most %d of %d requests, %d of %d columns, narrowed by %s",
            self._call,
            0 if raw is None else raw.requests,
            self._raw.requests,
            0 if raw is None else len(raw.column_names),
            len(self._raw.column_names),
            ", ".join(by) or "nothing",
        )
        if raw is None:
            return
        # What a filter or the first rows may cause is no doubt about the scan.
        caused = {"AbsentAttributeWarning"} if by else set()
        caused |= {"EmptyResultWarning"} if by.keys() - {"limit"} else set()
        for frame in self._frames(raw, caused, ends_at_interrupt=ends_at_interrupt):
            selected = frame if predicate is None else frame.filter(predicate)
            yield selected.select(with_columns) if with_columns else selected

    def narrowed(self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None) -> Narrowed:
        """The requests of a query."""
        types = self.types()
        needed = {*(with_columns or types), *(() if predicate is None else predicate.meta.root_names())}
        selected = None if predicate is None or n_rows is not None else selected_by(predicate)
        query = Query([name for name in types if name in needed], selected, n_rows, types)
        return self._narrowed(self._raw, query)

    def _frames(self, raw: RawScan, caused: set[str], *, ends_at_interrupt: bool) -> Iterator[pl.DataFrame]:
        """The batches, and frames without rows while none comes: polars looks for Ctrl-C only between two frames.

        Where another signal handler is set than when polars was imported, as in notebooks, polars sees none: then the
        stream raises it.
        """
        empty = self._polars.DataFrame(schema=self.schema()).select(raw.column_names)
        stream = raw.open(*LARGE_BATCH, ends_at_interrupt=ends_at_interrupt)
        # It is closed twice, as polars may end this while a Ctrl-C is pending, which is raised in the first call.
        with self._released(), self._bar() as bar, closing(stream), closing(stream):
            while not stream.ended:
                batch = stream.take(_PATIENCE)
                if bar is not None:
                    bar.take(stream.progress())
                yield empty if batch is None else self._checked(Batch(batch).to_polars())
            if (outcome := stream.stats) is not None:
                warn_each([each for each in outcome["warnings"] if each["category"] not in caused], self._line)

    def _checked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame, unless a column of names has other values: a query knows the categories beforehand."""
        for name, enum in self._enums.items():
            if name in frame.columns and frame.schema[name] != enum:
                raise ResponseError(
                    f"{name} has a value that the API specification does not name: leave decode_status "
                    "out for a column of numbers",
                    reason="record",
                    column=name,
                )
        return frame

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


class Explained(Source):
    """Describes the requests of a query in place of sending them."""

    def __init__(
        self,
        raw: RawScan,
        call: str,
        decoded: set[str],
        narrowed: Callable[[RawScan, Query], Narrowed],
        bar: Callable[[], Any],
    ) -> None:
        """Has no texts yet."""
        super().__init__(raw, call, decoded, narrowed, bar)
        self.texts: list[str] = []

    def __call__(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """No rows."""
        text = self.narrowed(with_columns, predicate, n_rows).explain()
        filters = "" if predicate is None else f"\npolars filters:  {cell(predicate, _MAX_PREDICATE)}"
        self.texts.append(text + filters)
        return iter(())
