"""The suffixes of files that are written: formats and compressions, in one place for all methods and the command."""

from __future__ import annotations

import os
from reprlib import repr as shortened

from dataaccess._core.paths import refuse, without_query

# The first suffix of a format is the usual one. The command alone writes Arrow.
FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".json", ".jsonl", ".ndjson"),
    "arrow": (".arrow", ".feather", ".ipc"),
}
# Of text files: Parquet compresses its own columns.
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_TEXTS = ("csv", "jsonl")
# What other tools read by these suffixes, and nothing here writes.
_NOT_WRITTEN = {
    *(".7z", ".br", ".bz2", ".gzip", ".lz4", ".lzma", ".snappy", ".sz", ".xz", ".z", ".zip", ".zstd"),
    *(".tar", ".tbz2", ".tgz", ".txz", ".xls", ".xlsb", ".xlsx", ".ods", ".html", ".xml"),
    *(".arrows", ".avro", ".h5", ".hdf", ".orc", ".pickle", ".pkl"),
    *(".db", ".duckdb", ".sqlite"),
}


def format_of(file: str) -> str | None:
    """The format that a suffix says; None if it says none."""
    suffix, _ = suffixes_of(file)
    return next((name for name, suffixes in FORMATS.items() if suffix in suffixes), None)


def known_suffixes(*formats: str) -> str:
    """The suffixes of formats, in words."""
    texts = []
    for name in formats:
        suffixes = ", ".join(FORMATS[name])
        texts.append(f"{suffixes}, each also with {', '.join(_COMPRESSIONS)}" if name in _TEXTS else suffixes)
    return "; ".join(texts)


def check_suffix(file: str, method: str) -> None:
    """Refuses the suffix of another format, or of a compression that the method does not write."""
    name = method.removeprefix("to_")
    file = without_query(file)
    found = format_of(file)
    if found not in (name, None, "arrow"):
        refuse("path", f"{shortened(file)} is no file of {method}: write to_{found}, or another suffix", file)
    if problem := not_written(file, name, method):
        refuse("path", f"{shortened(file)} {problem}", file)


def not_written(file: str, name: str, writer: str) -> str | None:
    """What is wrong with a suffix that the writer of a format does not write; None if it writes it."""
    suffix, packed = suffixes_of(file)
    is_of_another = suffix in _NOT_WRITTEN or format_of(file) not in (name, None)
    if is_of_another or (packed and name not in _TEXTS):
        ending = suffix + packed if is_of_another else packed
        return f"ends with {ending}, which {writer} does not write: use {known_suffixes(name)}; or another suffix"
    return None


def compression_of(file: str, compression: object) -> object:
    """The compression that a suffix says, if it is inferred, or the one that the caller chose.

    Raises:
        ValidationError: The caller chose another one than the suffix says.
    """
    _, packed = suffixes_of(file)
    said = _COMPRESSIONS.get(packed)
    if compression == "infer":
        return said
    if said not in (None, compression):
        problem = f"ends with {packed}: leave it out, or use another suffix"
        refuse("compression", f"is {compression!r}, and {shortened(file)} {problem}", compression)
    return compression


def separator_of(file: str, separator: object) -> object:
    """The separator of a CSV file: the one that the caller chose, or the one that the suffix says."""
    if separator is not None:
        return separator
    return "\t" if suffixes_of(file)[0] == ".tsv" else ","


def suffixes_of(file: str) -> tuple[str, str]:
    """The suffix of the format, and the one of the compression, in small letters."""
    name, suffix = os.path.splitext(os.path.basename(file).lower())  # noqa: PTH119, PTH122 - of a URL too
    if suffix in _COMPRESSIONS:
        return os.path.splitext(name)[1], suffix  # noqa: PTH122 - likewise
    return suffix, ""
