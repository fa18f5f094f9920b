"""Prints what each part of the extension module weighs, as a table for docs/design: raw, and compressed as in a wheel.

It reads the symbols, so the module must have them (Linux only; `nm` and `readelf` are of binutils):

    CARGO_PROFILE_RELEASE_STRIP=none make wheel
    python scripts/wheel_parts.py target/release/libdataaccess.so
"""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path

# Crates and C libraries of one purpose. A crate that is not named here counts as `other crates`.
PARTS = {
    "dataaccess": "this package",
    "core alloc std hashbrown": "Rust's own library",
    "parquet thrift zstd": "Parquet and zstd",
    "arrow_array arrow_buffer arrow_data arrow_schema arrow_select arrow_cmp arrow_ipc": "Arrow arrays and kernels",
    "arrow_cast arrow_ord arrow_csv csv lexical_core": "CSV",
    "rustls aws webpki": "TLS",
    "tokio hyper hyper_util reqwest http h2 futures_util httparse tower url idna": "HTTP and the runtime",
    "object_store quick_xml crc_fast": "object stores",
    "sqlite rusqlite axum serde_json matchit": "sandbox: SQLite and its server",
    "pyo3 pythonize": "bindings",
}
KINDS = {crate: part for crates, part in PARTS.items() for crate in crates.split()}
TABLES = {
    ".eh_frame": "tables for unwinding",
    ".eh_frame_hdr": "tables for unwinding",
    ".gcc_except_table": "tables for unwinding",
    ".rela.dyn": "relocations",
    ".data.rel.ro": "relocations",
    ".rodata": "constants",
}
# C libraries, by how their symbols begin.
SQLITE = re.compile(r"_?(sqlite|fts|rtree|json|vdbe|btree|pager|wal|unix|where|expr|select|parse|yy)", re.IGNORECASE)
ZSTD = re.compile(r"_?(ZSTD|HUF|FSE|COVER|ZDICT|POOL|XXH)")
TLS = re.compile(r"_?(aws|p256|p384|p521|ec|bn|edwards|curve|fiat|sha|rsa|aes|gcm|chacha|ml_|keccak)", re.IGNORECASE)
SECTION = re.compile(r"\[ *\d+\] (\.\S+) +\w+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)")


def run(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def part(symbol: str) -> str:
    """The part that a symbol belongs to, by its crate or C library."""
    if symbol.startswith("_ZN"):
        # `_$LT$crate..path..Type$u20$as$u20$…$GT$` is an implementation of a trait.
        found = re.match(r"_ZN(?:\d+_\$LT\$(?:[^.]*?)([a-z_0-9]+)\.\.|\d+([a-z_0-9]+?)\d+)", symbol)
        crate = next((name for name in found.groups() if name), "") if found else ""
        return KINDS.get(crate, "other crates")
    if SQLITE.match(symbol):
        return PARTS["sqlite rusqlite axum serde_json matchit"]
    if ZSTD.match(symbol):
        return PARTS["parquet thrift zstd"]
    return PARTS["rustls aws webpki"] if TLS.match(symbol) else "other C"


def main(path: str) -> None:
    """Prints the table of a library."""
    data = Path(path).read_bytes()
    sections = {
        name: (int(address, 16), int(offset, 16), int(size, 16))
        for name, address, offset, size in SECTION.findall(run("readelf", "-SW", path))
    }
    start, offset, size = sections[".text"]
    pieces: dict[str, list[bytes]] = defaultdict(list)
    # Equal functions may have one address.
    symbols = {}
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        match line.split():
            case [address, length, _, symbol] if start <= int(address, 16) < start + size:
                symbols[int(address, 16)] = int(length, 16), symbol
    for address, (length, symbol) in symbols.items():
        first = offset + address - start
        pieces[part(symbol)].append(data[first : first + length])
    for name, (_, first, length) in sections.items():
        if name in TABLES:
            pieces[TABLES[name]].append(data[first : first + length])
    rows = [(sum(map(len, found)), len(zlib.compress(b"".join(found), 6)), name) for name, found in pieces.items()]
    print("| part | MB | compressed, MB |\n| --- | --- | --- |")
    for raw, packed, name in sorted(rows, key=lambda row: -row[1]):
        print(f"| {name} | {raw / 1e6:.2f} | {packed / 1e6:.2f} |")
    print(f"| together | {sum(row[0] for row in rows) / 1e6:.2f} | {sum(row[1] for row in rows) / 1e6:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1])
