"""Paths of this machine, URLs of object stores with their options, and the suffixes of files that are written."""

from __future__ import annotations

import os
import re
import stat
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._core.checks import invalid
from dataaccess._native import STORE_SCHEMES
from dataaccess._native import object_names as object_names  # for Airflow

if TYPE_CHECKING:
    from dataaccess._core.secret import StorageOptions

# `Path("s3://bucket")` has one slash less. One letter is a drive of Windows.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_FILE_URL = re.compile(r"(?i)file:(?://(?:localhost)?)?(?=/(?!/))")
# The first suffix of a format is the usual one. Only the command writes Arrow.
FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".json", ".jsonl", ".ndjson"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
# Parquet compresses its own columns.
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_TEXTS = ("csv", "jsonl")
# Other tools read these suffixes, and nothing here writes them.
_NOT_WRITTEN = {
    *(".7z", ".br", ".bz2", ".gzip", ".lz4", ".lzma", ".snappy", ".sz", ".xz", ".z", ".zip", ".zstd"),
    *(".tar", ".tbz2", ".tgz", ".txz", ".xls", ".xlsb", ".xlsx", ".ods", ".html", ".xml"),
    *(".arrows", ".avro", ".h5", ".hdf", ".orc", ".pickle", ".pkl", ".db", ".duckdb", ".sqlite"),
}


def local_path(path: str | os.PathLike[str]) -> str:
    """The absolute path, with `~` as the home folder.

    Raises:
        TypeError: It is not a string or path.
    """
    from pathlib import Path

    # `Path.expanduser` raises for a user who does not exist.
    return str(Path(os.path.expanduser(os.fspath(path))).absolute())  # noqa: PTH111


def read_file(name: str | os.PathLike[str]) -> tuple[bytes, int]:
    """The bytes and the mode of a file that a user names.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no regular file. Opening a pipe would wait for another process.
    """
    from pathlib import Path

    mode = Path(name).stat().st_mode
    if not stat.S_ISREG(mode):
        raise ValueError("is not a regular file")
    return Path(name).read_bytes(), mode


def location(argument: str, path: object, options: StorageOptions | None) -> str:
    """The path on this machine, with `~` as the home folder, or the URL of an object store. `file://` is a path.

    Raises:
        TypeError: It is not a string or path.
        ValidationError: It is a URL of another kind, or another argument does not fit it.
    """
    text = os.fspath(path)  # type: ignore[call-overload] # raises the TypeError
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a string or a path, not {type(text).__name__}")
    url, plain = _URL.match(text), without_query(text)
    if url is not None and url[1].lower() in STORE_SCHEMES:
        if not isinstance(path, str):
            raise invalid(argument, f"{type(path).__name__} drops a slash of a URL: pass it as a string")
        return text
    if options is not None:
        message = f"is for URLs of object stores, and {shortened(plain)} is not one: leave it out"
        raise invalid("storage_options", message)
    if _FILE_URL.match(text):
        from urllib.request import url2pathname

        return url2pathname(_FILE_URL.sub("", text, count=1))
    if url is not None:
        message = f"{url[1]}:// is not supported, only paths and file://, s3://, gs:// and az:// URLs"
        raise invalid(argument, f"{shortened(plain)} is not on this machine: {message}", plain)
    return os.path.expanduser(text)  # noqa: PTH111 - a string stays one


def without_query(text: str) -> str:
    """A path, or a URL up to `?` or `#`: a signature may follow."""
    return re.split("[?#]", text, maxsplit=1)[0] if _URL.match(text) else text


def format_of(file: str) -> str | None:
    """The format by the suffix, or None."""
    suffix, _ = suffixes_of(file)
    return next((name for name, suffixes in FORMATS.items() if suffix in suffixes), None)


def known_suffixes(*formats: str) -> str:
    """The suffixes of formats, in words."""
    packed = f", each also with {', '.join(_COMPRESSIONS)}"
    return "; ".join(f"{', '.join(FORMATS[name])}{packed if name in _TEXTS else ''}" for name in formats)


def check_suffix(file: str, method: str) -> None:
    """Refuses the suffix of another format, or of a compression that the method does not write."""
    name, file = method.removeprefix("to_"), without_query(file)
    found = format_of(file)
    if found not in (name, None, "arrow"):
        raise invalid("path", f"{shortened(file)} is no file of {method}: write to_{found}, or another suffix", file)
    if problem := not_written(file, name, method):
        raise invalid("path", f"{shortened(file)} {problem}", file)


def not_written(file: str, name: str, writer: str) -> str | None:
    """What is wrong with the suffix for the writer of a format, or None."""
    suffix, packed = suffixes_of(file)
    is_of_another = suffix in _NOT_WRITTEN or format_of(file) not in (name, None)
    if not is_of_another and (not packed or name in _TEXTS):
        return None
    ending = suffix + packed if is_of_another else packed
    return f"ends with {ending}, which {writer} does not write: use {known_suffixes(name)}; or another suffix"


def compression_of(file: str, compression: object) -> object:
    """The compression by the suffix, or the one of the caller.

    Raises:
        ValidationError: They differ.
    """
    _, suffix = suffixes_of(file)
    usual = _COMPRESSIONS.get(suffix)
    if compression == "infer":
        return usual
    if usual not in (None, compression):
        problem = f"ends with {suffix}: leave it out, or use another suffix"
        raise invalid("compression", f"is {compression!r}, and {shortened(file)} {problem}", compression)
    return compression


def suffixes_of(file: str) -> tuple[str, str]:
    """The suffixes of the format and of the compression, in small letters."""
    name, suffix = os.path.splitext(os.path.basename(file).lower())  # noqa: PTH119, PTH122 - of a URL too
    if suffix in _COMPRESSIONS:
        return os.path.splitext(name)[1], suffix  # noqa: PTH122 - likewise
    return suffix, ""
