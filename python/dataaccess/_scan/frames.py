"""Columns of Arrow as tables of other libraries, each imported only where it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

DtypeBackend: TypeAlias = Literal["numpy_nullable", "pyarrow"]
"""What pandas calls `dtype_backend`."""

_BACKENDS = ("numpy_nullable", "pyarrow")
# The major version since which pandas has a type of its own for texts.
_TEXTS_OF_ITS_OWN = 3


class Stream(Protocol):
    """Columns as a stream of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Array(Protocol):
    """Columns as one batch of Arrow."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


def optional(module: str, extra: str) -> Any:
    """A package that the base install does without."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ImportError(f'{module} is not installed: pip install "dataaccess[{extra}]"', name=module) from error


def check_pandas(dtype_backend: str | None) -> None:
    """Whether `to_pandas` can work, before anything is sent."""
    if dtype_backend is not None and dtype_backend not in _BACKENDS:
        raise ValueError(f"dtype_backend= must be 'numpy_nullable' or 'pyarrow', not {dtype_backend!r}")
    optional("pandas", "pandas")
    optional("pyarrow", "pandas")


def to_arrow(columns: Stream | Array) -> pa.Table:
    """A table of pyarrow, without a copy."""
    return optional("pyarrow", "arrow").table(columns)


def to_polars(columns: Stream | Array) -> pl.DataFrame:
    """A DataFrame of polars."""
    frame: pl.DataFrame = optional("polars", "polars").DataFrame(columns)
    return frame


def to_pandas(columns: Stream | Array, dtype_backend: str | None) -> pd.DataFrame:
    """A DataFrame of pandas, with types that have room for what is missing."""
    check_pandas(dtype_backend)
    numpy, pandas, pa = (optional(module, "pandas") for module in ("numpy", "pandas", "pyarrow"))
    mapper = pandas.ArrowDtype if dtype_backend == "pyarrow" else _nullable(pandas, pa, dtype_backend).get
    table = pa.table(columns)
    # A block for each column: to bring them together would copy them all.
    frame: pd.DataFrame = table.to_pandas(types_mapper=mapper, split_blocks=True)
    for place, (column, dtype) in enumerate(zip(table.columns, frame.dtypes, strict=True)):
        # NumPy shares the memory of such a column, which is not to be written: a DataFrame is.
        if isinstance(dtype, numpy.dtype) and column.num_chunks == 1 and column.null_count == 0:
            writable: Any = frame.iloc[:, place].copy()
            frame.isetitem(place, writable)
    return frame


def _nullable(pandas: Any, pa: Any, dtype_backend: str | None) -> dict[Any, Any]:
    types = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    if dtype_backend == "numpy_nullable":
        return {**types, pa.string(): pandas.StringDtype(), pa.float64(): pandas.Float64Dtype()}
    # The type that pandas itself gives to texts.
    has_own = int(pandas.__version__.partition(".")[0]) >= _TEXTS_OF_ITS_OWN
    text = pandas.StringDtype("pyarrow", na_value=float("nan")) if has_own else pandas.StringDtype("pyarrow")
    return {**types, pa.string(): text, pa.string_view(): text}
