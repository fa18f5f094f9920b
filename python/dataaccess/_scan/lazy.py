"""The rows of a scan for a lazy query of polars: requests only the columns, first rows and days that the query reads.

polars applies its whole filter to the rows that come back. So a filter that is not understood costs requests, and never
a row: polars promises no form of its expressions.
"""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, time, timedelta
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import optional
from dataaccess._core.warn import caller
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.text import counted
from dataaccess._scan.base import LARGE_BATCH
from dataaccess._scan.batches import Batch
from dataaccess._scan.frames import enum_of
from dataaccess._scan.interrupt import ends_at_interrupt
from dataaccess._scan.outcome import warn_each
from dataaccess._scan.schema import NAME
from dataaccess.errors import ResponseError
from dataaccess.filters import days, op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from dataaccess._native import RawScan
    from dataaccess._scan.base import BaseScan

# The first major version of polars whose sources have a name.
_POLARS_MAJOR = 2
# Seconds without a batch, after which polars gets a frame without rows: it looks for Ctrl-C between two frames.
_PATIENCE = 0.1
# Seconds after which the requests of a query end that needs no more rows.
_RELEASE = 0.5
# Warnings about rows that a query does not read.
_CAUSED = ("AbsentAttributeWarning", "EmptyResultWarning")

_TIME = "allocated_time"
# How far the time of a record can be from the beginning of the day that found it: a day, as the service may cut its
# days in another zone than the client; 14 hours, as times may be written in any zone; an hour for a change of clocks.
# docs/service.md
_DOUBT = timedelta(days=2)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

# Comparisons with both sides exchanged.
_MIRRORED = {"Eq": "Eq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}


class Source:
    """What polars calls for the schema and for the rows of a query, in any thread."""

    def __init__(self, scan: BaseScan, raw: RawScan) -> None:
        """Takes the scan, and the same in the time zone of the results. Checks that polars is new enough."""
        polars = optional("polars")
        if int(polars.__version__.partition(".")[0]) < _POLARS_MAJOR:
            raise ImportError(f"to_lazyframe needs polars 2.0, this is {polars.__version__}: pip install -U polars")
        self._polars, self._scan, self._raw = polars, scan, raw
        decoded = [name for name, kind in (scan._schema or {}).items() if kind == NAME]
        self._enums = {name: enum_of(polars, name) for name in raw.types if name in decoded}
        self._lock = Lock()
        self._types: dict[str, str] | None = None
        # polars reads in threads of its own, without a line of the user.
        self._line = caller()

    def lazyframe(self) -> pl.LazyFrame:
        """A query of all rows."""
        from polars.io.plugins import register_io_source

        name, requests = self._raw.body(0)["itemTypeName"], counted(self._raw.requests, "request")
        return register_io_source(
            self, schema=self.schema, explain_name=self._scan._call, explain_detail=f"{name} in {requests}"
        )

    def schema(self) -> pl.Schema:
        """The types as polars has them."""
        types = {name: COLUMN_TYPES[kind].polars(self._polars) for name, kind in self.types().items()}
        if (zone := self._raw.result_zone) is not None:
            times = [name for name, kind in self.types().items() if kind == "timestamp"]
            types.update(dict.fromkeys(times, self._polars.Datetime("us", zone)))
        schema: pl.Schema = self._polars.Schema({**types, **self._enums})
        return schema

    def types(self) -> dict[str, str]:
        """The types of the columns. Inferred types are those of the first batch, and stay so."""
        with self._lock:
            if self._types is None:
                types = self._raw.types
                if "inferred" in types.values():
                    with closing(self._raw.open(*LARGE_BATCH, ends_at_interrupt=False)) as stream:
                        first = stream.next()
                    # Without rows there are strings, as in other results.
                    types = dict.fromkeys(types, "string") if first is None else dict(first.types)
                self._types = types
            return self._types

    def __call__(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The rows of a query. polars calls it in the thread that runs the query, and reads in another one."""
        return self._selected(with_columns, predicate, n_rows, ends_at_interrupt())

    def _selected(
        self, with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, ends: bool
    ) -> Iterator[pl.DataFrame]:
        # polars counts `n_rows` before it filters.
        by: dict[str, Any] = {}
        if n_rows is not None:
            by = {"limit": n_rows if self._scan._limit is None else min(n_rows, self._scan._limit)}
        elif predicate is not None:
            by = self._days(bounds_of(predicate)) or {}
        if n_rows == 0 or by is _NOTHING:
            return
        needed = {*(with_columns or self.types()), *(() if predicate is None else predicate.meta.root_names())}
        for frame in self._frames([name for name in self.types() if name in needed], by, ends):
            selected = frame if predicate is None else frame.filter(predicate)
            yield selected.select(with_columns) if with_columns else selected

    def _frames(self, columns: list[str], by: dict[str, Any], ends: bool) -> Iterator[pl.DataFrame]:
        """The batches of some columns, and frames without rows while none comes."""
        scan, types = self._scan, self.types()
        fixed = self._raw.types
        schema = {**(scan._schema or {}), **{name: types[name] for name in columns if fixed[name] == "inferred"}}
        chosen = scan._changed({name: kind for name, kind in schema.items() if name in columns}, attrs=columns, **by)
        # Figures of the query are those of the scan.
        raw = chosen._raw.for_use_of(self._raw)
        empty = self._polars.DataFrame(schema=self.schema()).select(columns)
        stream = raw.open(*LARGE_BATCH, ends_at_interrupt=ends)
        # Closed twice: polars may end this while a Ctrl-C is pending, which is raised in the first call.
        with self._released(), closing(stream), closing(stream):
            while not stream.ended:
                batch = stream.next(_PATIENCE)
                yield empty if batch is None else self._checked(Batch(batch).to_polars())
            outcome = stream.stats
        if outcome is not None:
            caused = (_CAUSED if _TIME in by else _CAUSED[:1]) if by else ()
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

    def _checked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame, unless a column of names has other values: a query knows the categories beforehand."""
        for name, enum in self._enums.items():
            if name in frame.columns and frame.schema[name] != enum:
                raise ResponseError(
                    f"{name} has a value that the API specification does not name: leave decode_status out",
                    column=name,
                )
        return frame

    def _days(self, bounds: Bounds) -> dict[str, Any] | None:
        """The argument of promotion codes that selects fewer days; None if there is none."""
        scan = self._scan
        if scan._call != "scan_codes" or scan._limit is not None or _TIME not in scan._given():
            return None
        first, last = (_time_of(scan._raw.body(index)) for index in (0, scan._raw.requests - 1))
        if first.get("time_unit") != "DAY":
            return None
        sent, operator, clock = first["value"], first["operator"], scan._client._raw.wall_clock
        if operator == "equals":
            # The days of the query are days of the client if the user has set its zone.
            is_exact = self._raw.result_zone is not None and self._raw.result_zone == scan._raw.result_zone
            return _fewer_days(sent, last["value"], bounds, clock, is_exact=is_exact)
        least, most = bounds.instants()
        after, before = (least - _DOUBT) // _MILLISECOND, -((-most - _DOUBT) // _MILLISECOND)
        if operator == "after_date" and after > sent:
            return {_TIME: op(operator, _instant(after))}
        if operator == "before_date" and before < sent:
            return {_TIME: op(operator, _instant(before))}
        return None


class Bounds:
    """Bounds of `allocated_time` in a filter: least and greatest time since the epoch, first and last day."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.least, self.most = timedelta.min, timedelta.max
        self.first_day, self.last_day = date.min, date.max

    def compare(self, operator: str, value: object, *, is_day: bool) -> None:
        """Adds a comparison: "Eq", "Lt", "LtEq", "Gt" or "GtEq". Another value than a date or time adds nothing."""
        if operator == "Eq":
            self.compare("GtEq", value, is_day=is_day)
            self.compare("LtEq", value, is_day=is_day)
        elif is_day and isinstance(value, date) and not isinstance(value, datetime):
            if operator in ("Gt", "GtEq") and value < date.max:
                self.first_day = max(self.first_day, value + _DAY if operator == "Gt" else value)
            elif operator in ("Lt", "LtEq") and value > date.min:
                self.last_day = min(self.last_day, value - _DAY if operator == "Lt" else value)
        elif isinstance(value, date) and not is_day:
            # polars reads a date as its midnight in UTC, also where the column has another zone.
            instant = value if isinstance(value, datetime) else datetime.combine(value, time())
            passed = instant.replace(tzinfo=UTC) - _EPOCH - (instant.utcoffset() or timedelta())
            if operator in ("Gt", "GtEq"):
                self.least = max(self.least, passed)
            else:
                # The last time before midnight is of the day before.
                self.most = min(self.most, passed - timedelta(microseconds=operator == "Lt"))

    def instants(self) -> tuple[timedelta, timedelta]:
        """The least and the greatest time, if days are those of UTC."""
        first = datetime.combine(self.first_day, time(), UTC) - _EPOCH
        last = datetime.combine(self.last_day, time.max, UTC) - _EPOCH
        return max(self.least, first), min(self.most, last)


def bounds_of(predicate: pl.Expr) -> Bounds:
    """Reads the comparisons of `allocated_time` in the conjunction that a filter is."""
    bounds = Bounds()
    parts = [predicate]
    try:
        while parts:
            expression = parts.pop()
            match json.loads(expression.meta.serialize(format="json")):
                case {"BinaryExpr": {"op": "And" | "LogicalAnd"}}:
                    parts += expression.meta.pop()
                case {"BinaryExpr": {"op": str(operator)}}:
                    right, left = expression.meta.pop()
                    if left.meta.is_literal(allow_aliasing=True):
                        left, right, operator = right, left, _MIRRORED.get(operator, operator)
                    _compare(bounds, left, operator, right)
                case {"Function": {"function": {"Boolean": {"IsIn": _}}}}:
                    values, column = expression.meta.pop()
                    _compare(bounds, column, "IsIn", values)
                case {"Function": {"function": {"Boolean": {"IsBetween": _}}}}:
                    most, least, middle = expression.meta.pop()
                    _compare(bounds, middle, "GtEq", least)
                    _compare(bounds, middle, "LtEq", most)
    except Exception:
        # Another version of polars: nothing is known, so all is requested.
        return Bounds()
    return bounds


def _compare(bounds: Bounds, column: pl.Expr, operator: str, literal: pl.Expr) -> None:
    """Adds a comparison of the time, or of its day, with a literal. Others add nothing."""
    match json.loads(column.meta.serialize(format="json")):
        case {"Column": name}:
            is_day = False
        case {"Function": {"input": [{"Column": name}], "function": {"TemporalExpr": "Date"}}}:
            is_day = True
        case _:
            return
    if name != _TIME or not literal.meta.is_literal(allow_aliasing=True):
        return
    value = optional("polars").select(literal).to_series().item()
    if operator == "IsIn":
        values = list(value)
        bounds.compare("GtEq", min(values), is_day=is_day)
        bounds.compare("LtEq", max(values), is_day=is_day)
    elif operator in _MIRRORED:
        bounds.compare(operator, value, is_day=is_day)


# The scan has no rows of these days.
_NOTHING: dict[str, Any] = {_TIME: None}


def _fewer_days(
    first: int, last: int, bounds: Bounds, clock: Callable[[int], str], *, is_exact: bool
) -> dict[str, Any] | None:
    """The days of a range, given as the instants of the first and the last, that can have rows in these bounds."""
    margin = 2 * _DOUBT // _MILLISECOND

    def day_of(passed: timedelta) -> date:
        # Years that Python does not know are far outside of the range.
        return date.fromisoformat(clock(min(max(passed // _MILLISECOND, first - margin), last + margin))[:10])

    start, stop = (date.fromisoformat(clock(each)[:10]) for each in (first, last))
    if is_exact:
        begin, end = max(day_of(bounds.least), bounds.first_day), min(day_of(bounds.most), bounds.last_day)
    else:
        least, most = bounds.instants()
        # The first day that begins after the first of these instants.
        begin, end = day_of(least - _DOUBT) + _DAY, day_of(most + _DOUBT)
    begin, end = max(begin, start), min(end, stop)
    if begin > end:
        return _NOTHING
    return None if (begin, end) == (start, stop) else {_TIME: days(begin, end + _DAY)}


def _time_of(body: dict[str, Any]) -> dict[str, Any]:
    """The condition of a request of promotion codes on the time."""
    (group,) = body["filters"]["OR"]
    found: dict[str, Any] = next(condition for condition in group["AND"] if condition["column"] == _TIME)
    return found


def _instant(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND
