"""Prints what each part of the extension module weighs, and each feature, as tables for docs/design.

It reads the symbols, so the module must have them (Linux only; `nm` and `readelf` are of binutils):

    CARGO_PROFILE_DIST_STRIP=none make wheel
    python scripts/wheel_parts.py target/x86_64-unknown-linux-gnu/dist/libdataaccess.so

A feature costs its code, and the share of this code in the tables, constants and relocations.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path

# Crates, modules of this package and C libraries of one purpose. A crate that is not named here counts as
# `other crates`. Only Parquet and CSV need the kernels of Arrow.
PARTS = {
    "dataaccess": "this package",
    "dataaccess::sandbox": "sandbox: this package",
    "dataaccess::files dataaccess::folder": "files: this package",
    "dataaccess::store": "object stores: this package",
    "core alloc std hashbrown": "Rust's own library",
    "parquet thrift flatbuffers zstd": "files: Parquet and zstd",
    "arrow_cmp arrow_ipc arrow_select": "files: kernels of Arrow",
    "arrow_cast arrow_csv arrow_ord csv lexical_core": "files: CSV",
    "arrow_array arrow_buffer arrow_data arrow_schema": "Arrow arrays",
    "rustls aws webpki": "TLS",
    "tokio hyper hyper_util reqwest http futures_util httparse tower url idna": "HTTP and the runtime",
    "object_store quick_xml crc_fast h2": "object stores: their clients",
    "axum matchit rusqlite sqlite": "sandbox: SQLite and its server",
    "pyo3 pythonize": "bindings",
}
KINDS = {crate: part for crates, part in PARTS.items() for crate in crates.split()}
FEATURES = ("files", "object stores", "sandbox")
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


# `_$LT$crate..module..Type$u20$as$u20$…$GT$` is an implementation of a trait.
IMPLEMENTATION = re.compile(r"_ZN\d+_\$LT\$[^.]*?([a-z_0-9]+)\.\.(?:([a-z_0-9]+)\.\.)?")


def names(symbol: str) -> tuple[str, str]:
    """The crate of a Rust symbol, and its module."""
    if found := IMPLEMENTATION.match(symbol):
        return found[1], found[2] or ""
    words = []
    rest = symbol.removeprefix("_ZN")
    while length := re.match(r"\d+", rest):
        end = length.end() + int(length[0])
        words.append(rest[length.end() : end])
        rest = rest[end:]
    return (*words, "")[0], (*words, "", "")[1]


def part(symbol: str) -> str:
    """The part that a symbol belongs to, by its crate and module or C library."""
    if symbol.startswith("_ZN"):
        crate, module = names(symbol)
        return KINDS.get(f"{crate}::{module}") or KINDS.get(crate, "other crates")
    if SQLITE.match(symbol):
        return KINDS["sqlite"]
    if ZSTD.match(symbol):
        return KINDS["zstd"]
    return KINDS["aws"] if TLS.match(symbol) else "other C"


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
    weights = {name: (sum(map(len, found)), len(zlib.compress(b"".join(found), 6))) for name, found in pieces.items()}
    total = sum(packed for _, packed in weights.values())
    code = sum(packed for name, (_, packed) in weights.items() if name not in TABLES.values())
    print("| part | MB | compressed, MB |\n| --- | --- | --- |")
    for name, (raw, packed) in sorted(weights.items(), key=lambda item: -item[1][1]):
        print(f"| {name} | {raw / 1e6:.2f} | {packed / 1e6:.2f} |")
    print(f"| together | {sum(raw for raw, _ in weights.values()) / 1e6:.2f} | {total / 1e6:.2f} |")
    print("\n| feature | code, compressed, MB | with its share of the tables, MB |\n| --- | --- | --- |")
    for feature in FEATURES:
        packed = sum(packed for name, (_, packed) in weights.items() if name.startswith(f"{feature}: "))
        print(f"| {feature} | {packed / 1e6:.2f} | {packed / 1e6 * total / code:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1])
