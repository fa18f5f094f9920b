"""The suffixes of the files that a scan writes: formats and compressions, in one place for all `to_…` methods."""

from __future__ import annotations

import os
from reprlib import repr as shortened

from dataaccess._core.paths import refuse

_WRITTEN = {
    "to_parquet": (".parquet", ".pq"),
    "to_csv": (".csv", ".tsv"),
    "to_jsonl": (".json", ".jsonl", ".ndjson"),
}
# Of text files: Parquet compresses its own columns.
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
# What other tools read by these suffixes, and no method writes.
_NOT_WRITTEN = {
    *(".7z", ".br", ".bz2", ".gzip", ".lz4", ".lzma", ".snappy", ".sz", ".xz", ".z", ".zip", ".zstd"),
    *(".tar", ".tbz2", ".tgz", ".txz", ".xls", ".xlsb", ".xlsx", ".ods", ".html", ".xml"),
    *(".arrow", ".arrows", ".avro", ".feather", ".h5", ".hdf", ".ipc", ".orc", ".pickle", ".pkl"),
    *(".db", ".duckdb", ".sqlite"),
}


def check_suffix(file: str, method: str) -> None:
    """Refuses the suffix of another format, or of a compression that the method does not write."""
    suffix, packed = _suffixes(file)
    fitting = next((other for other, suffixes in _WRITTEN.items() if suffix in suffixes), method)
    if fitting != method:
        refuse("path", f"{shortened(file)} is no file of {method}: write {fitting}, or another suffix", file)
    is_text = method != "to_parquet"
    if suffix in _NOT_WRITTEN or (packed and not is_text):
        found = suffix + packed if suffix in _NOT_WRITTEN else packed
        written = ", ".join(_WRITTEN[method]) + (f", each also with {', '.join(_COMPRESSIONS)}" if is_text else "")
        problem = f"ends with {found}, which {method} does not write: use {written}; or another suffix"
        refuse("path", f"{shortened(file)} {problem}", file)


def compression_of(file: str, compression: object) -> object:
    """The compression that a suffix says, if it is inferred, or the one that the caller chose.

    Raises:
        ValidationError: The caller chose another one than the suffix says.
    """
    _, packed = _suffixes(file)
    said = _COMPRESSIONS.get(packed)
    if compression == "infer":
        return said
    if said not in (None, compression):
        problem = f"ends with {packed}: leave it out, or use another suffix"
        refuse("compression", f"is {compression!r}, and {shortened(file)} {problem}", compression)
    return compression


def _suffixes(file: str) -> tuple[str, str]:
    """The suffix of the format, and the one of the compression, in small letters."""
    name, suffix = os.path.splitext(os.path.basename(file).lower())  # noqa: PTH119, PTH122 - of a URL too
    if suffix in _COMPRESSIONS:
        return os.path.splitext(name)[1], suffix  # noqa: PTH122 - likewise
    return suffix, ""
