"""Arrow columns as tables of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._contract import VALUES
from dataaccess._core.checks import optional

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    class ArrowColumns(Protocol):
        """A batch or a table, which libraries read as Arrow PyCapsules."""

        def __arrow_c_schema__(self) -> object: ...


_BACKENDS = ("numpy_nullable", "pyarrow")
# The first major version of pandas with a string type of its own by default.
_PANDAS_STR_MAJOR = 3


def check_pandas(dtype_backend: str | None) -> None:
    """Raises if `to_pandas` cannot work, before anything is sent."""
    if dtype_backend is not None and dtype_backend not in _BACKENDS:
        raise ValueError(f"dtype_backend must be 'numpy_nullable' or 'pyarrow', not {dtype_backend!r}")
    optional("pandas")
    optional("pyarrow")


def to_arrow(columns: ArrowColumns) -> pa.Table:
    """A pyarrow table, without a copy."""
    return optional("pyarrow").table(columns)


def to_polars(columns: ArrowColumns) -> pl.DataFrame:
    """A polars DataFrame."""
    polars = optional("polars")
    frame: pl.DataFrame = polars.DataFrame(columns)
    named = [name for name, dtype in frame.schema.items() if dtype == polars.Categorical]
    return frame.with_columns(_enum(polars, frame[name]) for name in named) if named else frame


def enum_of(polars: Any, column: str) -> pl.Enum:
    """The type of a column of names, in the order of the API specification."""
    enum: pl.Enum = polars.Enum(list(VALUES[column]))
    return enum


def _enum(polars: Any, series: pl.Series) -> pl.Series:
    """A column of names as an Enum. Values without a name are further categories."""
    try:
        return series.cast(enum_of(polars, series.name))
    except polars.exceptions.InvalidOperationError:
        values = series.drop_nulls().cast(polars.String).unique(maintain_order=True)
        return series.cast(polars.Enum(list(dict.fromkeys([*VALUES[series.name], *values]))))


def to_pandas(columns: ArrowColumns, dtype_backend: str | None) -> pd.DataFrame:
    """A pandas DataFrame with nullable types."""
    check_pandas(dtype_backend)
    pandas, pa, numpy = (optional(module) for module in ("pandas", "pyarrow", "numpy"))
    mapper = _arrow(pandas, pa) if dtype_backend == "pyarrow" else _nullable(pandas, pa, dtype_backend).get
    table = pa.table(columns)
    # One block per column: consolidating them would copy all values.
    frame: pd.DataFrame = table.to_pandas(types_mapper=mapper, split_blocks=True)
    for position, (column, dtype) in enumerate(zip(table.columns, frame.dtypes, strict=True)):
        # NumPy shares the memory of such a column, which is read-only; a DataFrame must be writable.
        if isinstance(dtype, numpy.dtype) and column.num_chunks == 1 and column.null_count == 0:
            writable: Any = frame.iloc[:, position].copy()
            frame.isetitem(position, writable)
    return frame


def _arrow(pandas: Any, pa: Any) -> Callable[[Any], Any]:
    """Arrow types, but categories for names of statuses."""
    return lambda kind: None if pa.types.is_dictionary(kind) else pandas.ArrowDtype(kind)


def _nullable(pandas: Any, pa: Any, dtype_backend: str | None) -> dict[Any, Any]:
    types = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    if dtype_backend == "numpy_nullable":
        return {**types, pa.string(): pandas.StringDtype(), pa.float64(): pandas.Float64Dtype()}
    # The type that pandas itself gives to strings.
    has_own = int(pandas.__version__.partition(".")[0]) >= _PANDAS_STR_MAJOR
    string = pandas.StringDtype("pyarrow", na_value=float("nan")) if has_own else pandas.StringDtype("pyarrow")
    return {**types, pa.string(): string, pa.string_view(): string}
