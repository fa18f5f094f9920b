"""Joins tracefiles of lcov, without the unit tests inside source files, and prints a table of the modules.

Writes `all.lcov`, `table.txt`, and `unvisited.txt` with the lines that no test ran. `make coverage` calls it:

    python scripts/coverage_table.py rust.lcov python.lcov --folder target/coverage
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
# `llvm-cov` counts a unit test beside its code like the code.
UNIT_TESTS = "mod tests {"


def read(tracefile: Path) -> Iterator[tuple[Path, dict[int, int]]]:
    """The files of a tracefile, and how often each of their lines ran."""
    for record in tracefile.read_text().split("end_of_record\n"):
        lines = record.splitlines()
        names = [line.removeprefix("SF:") for line in lines if line.startswith("SF:")]
        runs = [line.removeprefix("DA:").split(",") for line in lines if line.startswith("DA:")]
        for name in names:
            yield (ROOT / name).relative_to(ROOT), {int(number): int(count) for number, count, *_ in runs}


def without_unit_tests(path: Path, lines: dict[int, int]) -> dict[int, int]:
    """The lines above the unit tests of a Rust file."""
    source = (ROOT / path).read_text().splitlines()
    end = source.index(UNIT_TESTS) if path.suffix == ".rs" and UNIT_TESTS in source else len(source)
    return {number: count for number, count in lines.items() if number <= end}


def module(path: Path) -> str:
    """The module that a row of the table is about: `src/retry`, `python/dataaccess/cli`."""
    parts = path.with_suffix("").parts
    return "/".join(parts[: 3 if parts[:2] == ("python", "dataaccess") else 2])


def ranges(numbers: Iterable[int]) -> str:
    """Line numbers, as `3-5 9`."""
    runs = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    ends = [[number for _, number in run] for _, run in runs]
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in ends)


def table(files: dict[Path, dict[int, int]]) -> str:
    """Lines and visited lines by module, of Rust and of Python, and of all."""
    modules: defaultdict[str, list[int]] = defaultdict(list)
    for path, lines in files.items():
        for name in (module(path), "Rust" if path.suffix == ".rs" else "Python", "all"):
            modules[name] += lines.values()
    order = sorted(modules, key=lambda name: ("/" not in name, name == "all", name))
    row = "{:<34}{:>8}{:>10}{:>8}".format
    rows = [(name, len(runs), sum(map(bool, runs))) for name in order if (runs := modules[name])]
    head = row("module", "lines", "visited", "%")
    return "\n".join([head, *(row(name, lines, ran, f"{ran / lines:.1%}") for name, lines, ran in rows)]) + "\n"


def main() -> None:
    """Reads the arguments, and writes the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tracefiles", nargs="+", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    found = sorted(pair for tracefile in options.tracefiles for pair in read(tracefile))
    files = {path: without_unit_tests(path, lines) for path, lines in found}
    with (options.folder / "all.lcov").open("w") as joined, (options.folder / "unvisited.txt").open("w") as unvisited:
        for path, lines in files.items():
            joined.write(f"SF:{ROOT / path}\n")
            joined.writelines(f"DA:{number},{count}\n" for number, count in lines.items())
            joined.write("end_of_record\n")
            if missing := ranges(number for number, count in lines.items() if not count):
                unvisited.write(f"{path}: {missing}\n")
    text = table(files)
    (options.folder / "table.txt").write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
