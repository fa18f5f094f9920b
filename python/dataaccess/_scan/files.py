"""Files that rows are written to: their formats and suffixes, and file objects in place of a path."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._core.checks import choice, invalid
from dataaccess._core.paths import location, without_query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from dataaccess._core.secret import StorageOptions
    from dataaccess._types import FileTarget, PathArgument, WritableFile

_PIECE = 1 << 20
# The first suffix of a format is the usual one.
FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".json", ".jsonl", ".ndjson"),
}
# Parquet compresses its own columns.
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_TEXTS = ("csv", "jsonl")
# Other tools read these suffixes, and nothing here writes them.
_NOT_WRITTEN = {
    *(".7z", ".br", ".bz2", ".gzip", ".lz4", ".lzma", ".snappy", ".sz", ".xz", ".z", ".zip", ".zstd"),
    *(".tar", ".tbz2", ".tgz", ".txz", ".xls", ".xlsb", ".xlsx", ".ods", ".html", ".xml"),
    *(".arrow", ".arrows", ".feather", ".ipc"),
    *(".avro", ".h5", ".hdf", ".orc", ".pickle", ".pkl", ".db", ".duckdb", ".sqlite"),
}

# The name as `format`, `compression`, for CSV the `separator` and `escape_formulas`.
Format = dict[str, str | int]


def parquet_format() -> Format:
    """Parquet, which compresses by itself."""
    return {"format": "parquet"}


def text_format(name: str, target: FileTarget, compression: object, *, escapes: bool = False) -> Format:
    """The format of a text file. The suffix `.tsv` stands for tabs."""
    file = os.path.basename(target) if isinstance(target, str | os.PathLike) else ""  # noqa: PTH119 - of a URL too
    suffix, packed = _suffixes_of(file)
    usual = _COMPRESSIONS.get(packed)
    if compression == "infer":
        compression = usual
    elif usual not in (None, compression):
        problem = f"ends with {packed}: leave it out, or use another suffix"
        raise invalid("compression", f"is {compression!r}, and {shortened(file)} {problem}", compression)
    compression = choice("compression", compression, ("infer", "gzip", "zstd"))
    found: Format = {"format": name, "compression": compression or "none"}
    if name == "csv":
        found |= {"separator": ord("\t" if suffix == ".tsv" else ","), "escape_formulas": escapes}
    return found


@contextmanager
def output_path(
    target: FileTarget, method: str, storage_options: StorageOptions | None
) -> Iterator[tuple[PathArgument, WritableFile | None]]:
    """Where the core writes, and the open file that gets the complete rows from there, if the target is one.

    So a failure leaves an open file unchanged.
    """
    if isinstance(target, io.TextIOBase):
        raise TypeError('the file is open in text mode: open it in binary mode ("wb"), or pass its .buffer')
    if isinstance(target, str | os.PathLike):
        path = location("path", target, storage_options)
        name, file = method.removeprefix("to_"), without_query(path)
        found = format_of(file)
        if found not in (name, None):
            other = f"write to_{found}, or another suffix"
            raise invalid("path", f"{shortened(file)} is no file of {method}: {other}", file)
        if problem := not_written(file, name, method):
            raise invalid("path", f"{shortened(file)} {problem}", file)
        yield path, None
        return
    if not hasattr(target, "write"):
        raise TypeError(f"rows go to a path or a file opened in binary mode, not to a {type(target).__name__}")
    if storage_options is not None:
        raise invalid("storage_options", "is for URLs of object stores, and the target is an open file: leave it out")
    # Imported here, as few scans need them.
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="dataaccess-") as folder:
        yield Path(folder) / "rows", target


def copy_into(file: Any, path: Any) -> None:
    """Writes the content of a path into an open file."""
    with path.open("rb") as source:
        while piece := source.read(_PIECE):
            rest = memoryview(piece)
            while rest:
                written = file.write(rest)
                if written is None and isinstance(file, io.RawIOBase):
                    raise BlockingIOError("the file does not block, and takes no more bytes now")
                # An unbuffered file may take a part; one that returns nothing has taken all.
                rest = rest[written:] if isinstance(written, int) else rest[len(rest) :]


def format_of(file: str) -> str | None:
    """The format by the suffix, or None."""
    suffix, _ = _suffixes_of(file)
    return next((name for name, suffixes in FORMATS.items() if suffix in suffixes), None)


def known_suffixes(*formats: str) -> str:
    """The suffixes of formats, in words."""
    packed = f", each also with {', '.join(_COMPRESSIONS)}"
    return "; ".join(f"{', '.join(FORMATS[name])}{packed if name in _TEXTS else ''}" for name in formats)


def not_written(file: str, name: str, writer: str) -> str | None:
    """What is wrong with the suffix for the writer of a format, or None."""
    suffix, packed = _suffixes_of(file)
    is_of_another = suffix in _NOT_WRITTEN or format_of(file) not in (name, None)
    if not is_of_another and (not packed or name in _TEXTS):
        return None
    ending = suffix + packed if is_of_another else packed
    return f"ends with {ending}, which {writer} does not write: use {known_suffixes(name)}; or another suffix"


def _suffixes_of(file: str) -> tuple[str, str]:
    """The suffixes of the format and of the compression, in small letters."""
    name, suffix = os.path.splitext(os.path.basename(file).lower())  # noqa: PTH119, PTH122 - of a URL too
    if suffix in _COMPRESSIONS:
        return os.path.splitext(name)[1], suffix  # noqa: PTH122 - likewise
    return suffix, ""
