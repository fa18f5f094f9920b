"""The rows of a seed file: CSV, JSON lines, JSON and Parquet. Errors name the file and the line."""

from __future__ import annotations

import csv
import json
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dataaccess._sandbox.files import members, parsed, repeated, typed
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

SUFFIXES = (".json", ".jsonl", ".csv", ".parquet")

# The types of attributes whose values are no strings in JSON. CSV has strings alone.
_NUMBERS = ("number", "int64", "float64")
_BOOLS = ("bool", "boolean")
_LISTS = ("list",)


def rows_of_file(path: Path, kinds: Mapping[str, str]) -> Iterable[Any]:
    """The rows of a file, read as they are taken where the format allows it.

    Args:
        path: The file. Its suffix is its format.
        kinds: The types of the attributes, by which the strings of a CSV file are converted.

    Raises:
        ConfigError: The suffix is unknown, or the file cannot be read.
        ImportError: Neither polars nor pyarrow is installed, and the file is a Parquet file.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(f"{path}: the suffix of a file of rows is {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.is_file():
        raise ConfigError(f"{path} {'is not a file' if path.exists() else 'does not exist'}")
    if suffix == ".json":
        rows: list[Any] = typed(f"{path}", parsed(path), list)
        return rows
    if suffix == ".parquet":
        table: Iterable[Any] = _of_parquet(path)
        return table
    return _of_lines(path) if suffix == ".jsonl" else _of_csv(path, kinds)


def _of_lines(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line, object_pairs_hook=members)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{path}, line {number}: not JSON: {error}") from None


def _of_csv(path: Path, kinds: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    # `utf-8-sig`: Excel begins a file with a byte order mark.
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            names = next(reader, [])
            if (name := repeated(names)) is not None:
                raise ConfigError(f"{path}, line 1: two columns have the name {name!r}")
            for cells in reader:
                place = f"{path}, line {reader.line_num}"
                if len(cells) != len(names):
                    if not cells:
                        continue
                    raise ConfigError(f"{place}: {len(cells)} values for {len(names)} columns")
                yield {
                    name: _value(f"{place}: {name}", cell, kinds.get(name))
                    for name, cell in zip(names, cells, strict=True)
                }
        except csv.Error as error:
            raise ConfigError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path} is not valid UTF-8; save it as UTF-8") from None


def _value(place: str, cell: str, kind: str | None) -> Any:
    """The value of a cell of a CSV file; an empty one is null."""
    if not cell:
        return None
    if kind in _LISTS:
        return _list(place, cell)
    if kind in _BOOLS:
        found = {"true": True, "false": False}.get(cell.lower())
        if found is None:
            raise ConfigError(f"{place}: {cell!r} is not true or false")
        return found
    return _number(place, cell) if kind in _NUMBERS else cell


def _number(place: str, cell: str) -> int | float:
    for read in (int, float):
        try:
            # Python alone accepts 1_000.
            if "_" not in cell:
                return read(cell)
        except ValueError:
            pass
    raise ConfigError(f"{place}: {cell!r} is not a number")


def _list(place: str, cell: str) -> list[Any]:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise ConfigError(f'{place}: {cell!r} is not a JSON array such as ["a", "b"]')
    return found


def _of_parquet(path: Path) -> Any:
    for module, read in (("polars", "read_parquet"), ("pyarrow.parquet", "read_table")):
        if find_spec(module.partition(".")[0]) is not None:
            try:
                return getattr(import_module(module), read)(path)
            except Exception as error:  # both libraries have exceptions of their own
                raise ConfigError(f"{path} cannot be read as Parquet: {error}") from error
    raise ImportError(f"{path}: polars or pyarrow reads it: pip install polars")
