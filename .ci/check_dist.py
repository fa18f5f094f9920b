"""Checks the files in `dist` before they are published: names, sizes, contents, ABI and metadata.

Needs a checkout and the packages of the group `release`:

    python .ci/check_dist.py
"""

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
NAME = re.escape(f"dataaccess-{VERSION}")
LINUX, APPLE = r"(manylinux_2_28|musllinux_1_2)_(x86_64|aarch64)", r"macosx_\d+_\d+_(x86_64|arm64)"
NAMES = re.compile(rf"{NAME}-cp311-abi3-({LINUX}|{APPLE}|win_amd64)\.whl|{NAME}\.tar\.gz")
MOST_BYTES = 10 * 2**20


def expected(wheel: Path) -> set[str]:
    """The Python files that git tracks, the extension module, and the metadata with the files of `licenses`."""
    tracked = subprocess.run(["git", "ls-files", "python"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    module = "dataaccess/_native." + ("pyd" if wheel.stem.endswith("win_amd64") else "abi3.so")
    licenses = [path for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)]
    info = ["METADATA", "RECORD", "WHEEL", "entry_points.txt"]
    info += [f"licenses/{path.relative_to(ROOT).as_posix()}" for path in licenses]
    info += [f"sboms/{path.name}" for path in ROOT.glob("licenses/*.cyclonedx.json")]
    files = {name.removeprefix("python/") for name in tracked.splitlines()}
    return files | {module} | {f"dataaccess-{VERSION}.dist-info/{name}" for name in info}


def problems(path: Path) -> Iterator[str]:
    """What is wrong with a file."""
    if not NAMES.fullmatch(path.name):
        yield "has the name of no file that is published"
    if path.stat().st_size > MOST_BYTES:
        yield f"is larger than {MOST_BYTES:,} bytes"
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names, wanted = wheel.namelist(), expected(path)
            yield from (f"contains {name}" for name in sorted(set(names) - wanted))
            yield from (f"lacks {name}" for name in sorted(wanted - set(names)))
            sboms = [name for name in names if "/sboms/" in name]
            yield from (f"{name} has a path of the build machine" for name in sboms if b"file:///" in wheel.read(name))


def main() -> int:
    """Prints what is wrong with the files, and returns the exit code."""
    paths = sorted((ROOT / "dist").iterdir())
    found = [f"{path.name} {problem}" for path in paths for problem in problems(path)]
    print("\n".join(found or [f"{path.name}: {path.stat().st_size:,} bytes" for path in paths]))
    wheels = [str(path) for path in paths if path.suffix == ".whl"]
    tools = [["abi3audit", "--strict", *wheels], ["twine", "check", "--strict", *map(str, paths)]]
    codes = [subprocess.run([sys.executable, "-m", *tool], check=False).returncode for tool in tools]
    return int(bool(found) or any(codes))


if __name__ == "__main__":
    sys.exit(main())
