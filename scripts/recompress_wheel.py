"""Compresses wheels again, with libdeflate: 3 % smaller than the smallest of zlib, in the same format.

python scripts/recompress_wheel.py FOLDER       # of the group `release`
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import deflate

SMALLEST = 12


class Compressor:
    """Compresses a file as a whole, for `zipfile`, which has zlib alone."""

    def __init__(self) -> None:
        """Has no data yet."""
        self._data = bytearray()

    def compress(self, data: bytes) -> bytes:
        """Keeps the data."""
        self._data += data
        return b""

    def flush(self) -> bytes:
        """The compressed data."""
        return bytes(deflate.deflate_compress(self._data, SMALLEST))


def recompress(path: Path) -> None:
    """Replaces a wheel, unless that makes it no smaller."""
    with TemporaryDirectory(dir=path.parent) as folder:
        smaller = Path(folder, path.name)
        _compress(path, smaller)
        before, after = path.stat().st_size, smaller.stat().st_size
        if after < before:
            smaller.replace(path)
    print(f"{path.name}: {before:,} bytes, then {min(after, before):,}")


def _compress(path: Path, smaller: Path) -> None:
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            written = zipfile.ZipInfo(entry.filename, entry.date_time)
            written.external_attr = entry.external_attr
            written.compress_type = zipfile.ZIP_DEFLATED
            with new.open(written, "w") as file:
                file._compressor = Compressor()  # type: ignore[attr-defined]  # noqa: SLF001
                file.write(old.read(entry))
    # Reads all of it, and compares the checksums.
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(smaller) as new:
        checksums = [[(one.filename, one.CRC) for one in wheel.infolist()] for wheel in (old, new)]
        if new.testzip() is not None or checksums[0] != checksums[1]:
            raise SystemExit(f"{path.name} is another file after compression")


if __name__ == "__main__":
    for wheel in sorted(Path(sys.argv[1]).glob("*.whl")):
        recompress(wheel)
