"""Finishes the wheels of a folder: the list of components, and the compression.

maturin lists what `Cargo.lock` has, also crates that no feature uses: a scanner would report their vulnerabilities. The
list keeps the crates of `licenses/crates.txt`, which are compiled, and loses the build folder. libdeflate compresses
3 % better than the smallest of zlib, in the same format.

python scripts/finish_wheel.py FOLDER       # of the group `release`
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import deflate
import licensed

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


def of_what_is_compiled(listed: dict[str, Any]) -> dict[str, Any]:
    """A list of components (CycloneDX) without crates that are not compiled."""
    crates = licensed.crates()
    components = [one for one in listed["components"] if (one["name"], one["version"]) in crates]
    known = {listed["metadata"]["component"]["bom-ref"], *(one["bom-ref"] for one in components)}
    dependencies = [
        {**one, "dependsOn": [name for name in one.get("dependsOn", []) if name in known]}
        for one in listed["dependencies"]
        if one["ref"] in known
    ]
    return {**listed, "components": components, "dependencies": dependencies}


def finished(contents: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a wheel with a list of what is compiled, and a RECORD of it."""
    name = next(name for name in contents if name.endswith(".cyclonedx.json"))
    record = next(name for name in contents if name.endswith(".dist-info/RECORD"))
    text = json.dumps(of_what_is_compiled(json.loads(contents[name])), indent=1, ensure_ascii=False)
    content = text.replace(f"path+{licensed.ROOT.as_uri()}", "path+file://.").encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    line = f"{name},sha256={digest},{len(content)}"
    lines = [line if one.startswith(f"{name},") else one for one in contents[record].decode().splitlines()]
    return {**contents, name: content, record: "\n".join([*lines, ""]).encode()}


def finish(path: Path) -> None:
    """Replaces a wheel."""
    with zipfile.ZipFile(path) as old:
        entries = old.infolist()
        contents = finished({entry.filename: old.read(entry) for entry in entries})
    before = path.stat().st_size
    with TemporaryDirectory(dir=path.parent) as folder:
        smaller = Path(folder, path.name)
        with zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in entries:
                written = zipfile.ZipInfo(entry.filename, entry.date_time)
                written.external_attr = entry.external_attr
                written.compress_type = zipfile.ZIP_DEFLATED
                with new.open(written, "w") as file:
                    file._compressor = Compressor()  # type: ignore[attr-defined]  # noqa: SLF001
                    file.write(contents[entry.filename])
        with zipfile.ZipFile(smaller) as new:
            if {entry.filename: new.read(entry) for entry in new.infolist()} != contents:
                raise SystemExit(f"{path.name} has other files after compression")
        smaller.replace(path)
    print(f"{path.name}: {before:,} bytes, then {path.stat().st_size:,}")


if __name__ == "__main__":
    for wheel in sorted(Path(sys.argv[1]).glob("*.whl")):
        finish(wheel)
