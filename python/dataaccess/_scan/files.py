"""Files that rows are written to: their format, and file objects in place of a path."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dataaccess._core.checks import choice, invalid
from dataaccess._core.paths import check_suffix, compression_of, location, suffixes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from dataaccess._core.secret import StorageOptions
    from dataaccess._types import FileTarget, PathArgument, WritableFile

_PIECE = 1 << 20

# Name, for CSV the separator and whether formulas are escaped, compression.
Format = tuple[str, int, bool, str | None]


def parquet_format() -> Format:
    """Parquet, which compresses by itself."""
    return "parquet", 0, False, None


def text_format(name: str, target: FileTarget, compression: object, *, escapes: bool = False) -> Format:
    """The format of a text file. The suffix `.tsv` stands for tabs."""
    file = os.path.basename(target) if isinstance(target, str | os.PathLike) else ""  # noqa: PTH119 - of a URL too
    compression = choice("compression", compression_of(file, compression), ("infer", "gzip", "zstd"))
    return name, ord("\t" if suffixes_of(file)[0] == ".tsv" else ","), escapes, compression


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
        check_suffix(path, method)
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
