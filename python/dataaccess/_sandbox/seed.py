"""Seeds of a `Sandbox`: files that declare business objects and have their rows: CSV, JSON lines, JSON, Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import boolean, string
from dataaccess._core.paths import local_path
from dataaccess._public import did_you_mean
from dataaccess._sandbox.data import Data
from dataaccess._sandbox.files import Members, members, parsed, repeated, typed
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


_MEMBERS = ("object", "item_type_id", "attributes", "rows")


class Seeds(Data):
    """Rows and declarations of files."""

    def seed(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        name: str | None = None,
        replace: bool = False,
    ) -> int:
        r"""Declares business objects and loads their rows, from a file that a team commits.

        A JSON file holds an object, or an array of several:

            {"object": "store", "item_type_id": 7,
             "attributes": {"store_id": "string", "area": "float64"},
             "rows": [{"store_id": "s-1", "area": 250}]}

        `rows` is an array, or the path of a file of rows beside the JSON file, such as "stores.csv". Without
        `attributes` the object must be declared already, such as `customer`.

        With `name`, the file has rows alone: CSV with a line of names (an empty cell is null), JSON lines, a JSON array
        or Parquet.

        Args:
            source: The file, by its suffix .json, .jsonl, .csv or .parquet; or the content of a JSON file as a dict.
            name: Name of the object whose rows the file has.
            replace: As in `load`.

        Returns:
            The number of rows loaded.

        Raises:
            ConfigError: The file cannot be read, or has an unknown member or a value of another type. The message names
                the file and the place.
            SandboxError: The object cannot be declared, or a row does not fit it.
            ImportError: The file is Parquet, and neither polars nor pyarrow is installed.
            ClientClosedError: The sandbox belongs to the parent process.

        Examples:
            >>> import dataaccess as da
            >>> from pathlib import Path
            >>> size = Path("customers.csv").write_text("customer_id,name\n17,Ada\n42,\n")
            >>> with da.Sandbox() as sandbox:
            ...     count = sandbox.seed("customers.csv", name="customer")
            ...     both = da.col("customer_id").matches(["17", "42"])
            ...     rows = sandbox.client().search_items("customer", ["name"], both)
            >>> rows
            [{'name': 'Ada'}, {'name': None}]
        """
        replace = boolean("replace", replace)
        if isinstance(source, Mapping):
            _refuse_name(name)
            return self._seed(dict(source), "seed", Path.cwd(), replace=replace)
        path = Path(local_path(source))
        if name is not None:
            return self._load_file(string("name", name), path, replace=replace)
        if path.suffix.lower() != ".json":
            if path.suffix.lower() in SUFFIXES:
                advice = "give name, such as name='customer', or name the file in the rows of a JSON file"
                raise ConfigError(f"{path} has rows, and no name of their object: {advice}")
            raise ConfigError(f"{path}: the suffix of a seed is {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
        content = parsed(path)
        several = content if isinstance(content, list) else [content]
        places = [f"{path}: [{number}]" if isinstance(content, list) else f"{path}" for number in range(len(several))]
        return sum(
            self._seed(one, place, path.parent, replace=replace) for one, place in zip(several, places, strict=True)
        )

    def _seed(self, content: object, place: str, folder: Path, *, replace: bool) -> int:
        """Declares an object and loads its rows. Paths are of `folder`."""
        members = Members(place, content, _MEMBERS)
        name, attributes = members.needed("object", str), members.take("attributes", dict)
        item_type_id, rows = members.take("item_type_id", int), members.take("rows", list, str)
        if attributes is not None:
            # The sandbox refuses other types.
            kinds: Any = {key: typed(f"{place}: attributes.{key}", kind, str) for key, kind in attributes.items()}
            with _at(place):
                self.declare(name, self._id_of(name, place) if item_type_id is None else item_type_id, kinds)
        elif item_type_id is not None:
            raise ConfigError(f"{place}: item_type_id declares an object, and attributes are missing")
        if isinstance(rows, str):
            path = folder / os.path.expanduser(rows)  # noqa: PTH111 - never raises
            return self._load_file(name, path, replace=replace)
        with _at(place):
            return 0 if rows is None else self.load(name, rows, replace=replace, progress=False)

    def _load_file(self, name: str, path: Path, *, replace: bool) -> int:
        objects = {one["name"]: one["attributes"] for one in self._control.call("GET", "/objects")}
        if name not in objects:
            advice = did_you_mean(name, objects) or ": declare it, with the attributes of a JSON seed"
            raise ConfigError(f"{path}: there is no object {name!r}{advice}")
        with _at(f"{path}"):
            return self.load(name, rows_of_file(path, objects[name]), replace=replace, progress=False)

    def _id_of(self, name: str, place: str) -> int:
        """The id of an object that is declared already."""
        for one in self._control.call("GET", "/objects"):
            if one["name"] == name:
                return int(one["item_type_id"])
        raise ConfigError(f"{place}: the member 'item_type_id' is missing")


def _refuse_name(name: str | None) -> None:
    if name is not None:
        raise ConfigError("name is for a file of rows; a dict has the member 'object'")


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Errors of the sandbox name the place."""
    try:
        yield
    except SandboxError as error:
        raise SandboxError(f"{place}: {error}", hint=error.hint) from None
