"""Checks the files of `dist` before they are published: names, contents, size, symbols, metadata, list of components.

Needs a checkout, since a wheel has the files of `python` that git tracks and nothing else, and the tools of the group
`release`: auditwheel for the wheels of Linux, abi3audit, twine.

    make wheel sdist check-dist
    python scripts/check_dist.py FOLDER
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import licensed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
MOST_BYTES = 8 * 2**20


def toml(path: Path) -> dict[str, Any]:
    """The tables of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


PROJECT: dict[str, Any] = toml(ROOT / "pyproject.toml")["project"]
NAME = f"dataaccess-{toml(ROOT / 'Cargo.toml')['package']['version']}"
PLATFORMS = re.compile(
    r"manylinux_2_28_(x86_64|aarch64)|musllinux_1_2_(x86_64|aarch64)|macosx_\d+_\d+_(x86_64|arm64)|win_amd64"
)
# The C library, and the loader of programs.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d|ld-linux-[\w-]+\.so\.\d")
LICENSES = PROJECT["license-files"]


def tracked(*folders: str) -> set[str]:
    """The files below some folders that git tracks."""
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


def differences(found: Iterable[str], expected: set[str]) -> Iterator[str]:
    """What a file has too much and what is missing from it."""
    names = list(found)
    yield from (f"contains {name}" for name in sorted(set(names) - expected))
    yield from (f"lacks {name}" for name in sorted(expected - set(names)))
    yield from (f"contains {name} twice" for name in sorted({name for name in names if names.count(name) > 1}))


def run(*command: str) -> tuple[int, str]:
    """The exit code of a tool of this environment, and what it printed."""
    path = str(Path(sys.executable).with_name(command[0]))
    ended = subprocess.run([path, *command[1:]], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def of_wheel(path: Path) -> Iterator[str]:
    """What is wrong with a wheel."""
    if path.stat().st_size > MOST_BYTES:
        yield f"is larger than {MOST_BYTES:,} bytes: scripts/wheel_parts.py shows what each part weighs"
    tags = re.fullmatch(rf"{re.escape(NAME)}-cp311-abi3-(.*)\.whl", path.name)
    platform = tags[1] if tags else ""
    if not PLATFORMS.fullmatch(platform):
        yield f"is not named {NAME}-cp311-abi3-PLATFORM.whl with a platform that is published"
    info = f"{NAME}.dist-info"
    module = "dataaccess/_native.pyd" if platform == "win_amd64" else "dataaccess/_native.abi3.so"
    components = f"{info}/sboms/dataaccess.cyclonedx.json"
    expected = {name.removeprefix("python/") for name in tracked("python")} | {module, components}
    expected |= {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    expected |= {f"{info}/licenses/{name}" for name in LICENSES}
    with zipfile.ZipFile(path) as wheel:
        yield from differences(wheel.namelist(), expected)
        if expected <= set(wheel.namelist()):
            yield from of_entry_points(wheel.read(f"{info}/entry_points.txt").decode())
            yield from of_components(json.loads(wheel.read(components)))
    if "linux" in platform:
        yield from of_symbols(path, platform)
    code, printed = run("abi3audit", "--strict", "--verbose", str(path))
    if code:
        yield f"abi3audit: {printed.strip()}"


def of_entry_points(text: str) -> Iterator[str]:
    """What is wrong with the commands and plugins of a wheel."""
    expected = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    lines = {f"[{group}]" for group in expected} | {
        f"{name}={target}" for group in expected.values() for name, target in group.items()
    }
    yield from differences((line.replace(" ", "") for line in text.splitlines() if line.strip()), lines)


def of_components(listed: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the list of components: each crate is in the lock file, the patched ones our own."""
    if listed.get("bomFormat") != "CycloneDX":
        yield "its list of components is not in the format CycloneDX"
    if "file:///" in json.dumps(listed):
        yield "its list of components has a path of the machine that built it"
    locked = {(package["name"], package["version"]): package for package in toml(ROOT / "Cargo.lock")["package"]}
    named = {(one["name"], one["version"]): one for one in listed.get("components", [])}
    yield from (
        f"lists the component {name} {version}, which is not compiled into a wheel"
        for name, version in named.keys() - licensed.crates()
    )
    lacking = {"libsqlite3-sys", "object_store", "rustls"} - {name for name, _ in named}
    yield from (f"its list of components lacks {name}" for name in sorted(lacking))
    yield from (
        f"lists the component {name} {version}, which Cargo.lock lacks" for name, version in named.keys() - locked
    )
    for path in sorted((ROOT / "patches").glob("*/Cargo.toml")):
        package = toml(path)["package"]
        if "source" in locked.get((package["name"], package["version"]), {"source": ""}):
            yield f"Cargo.lock does not use patches/{package['name']}"
        component = named.get((package["name"], package["version"]))
        if component is None or "download_url=file" not in component.get("purl", ""):
            yield f"its list of components lacks {package['name']} {package['version']} of patches"


def of_symbols(path: Path, platform: str) -> Iterator[str]:
    """What the extension module of a wheel for Linux needs and its platform does not promise."""
    code, printed = run("auditwheel", "show", "--json", str(path))
    if code:
        yield f"auditwheel: {printed.strip()}"
        return
    shown = json.loads(printed)
    if platform.startswith("musllinux"):
        # The linker names musl `libc.so`, which auditwheel does not know.
        machine = platform.removeprefix("musllinux_1_2_")
        yield from (
            f"needs {name}"
            for name in sorted({*shown["external_libs"], *shown["versioned_symbols"]})
            if name not in {"libc.so", f"libc.musl-{machine}.so.1"}
        )
        return
    named, needed = (re.fullmatch(r"(\w+linux)_(\d+)_(\d+)_(\w+)", tag) for tag in (platform, shown["overall_tag"]))
    is_older = named and needed and needed.group(1, 4) == named.group(1, 4) and int(needed[3]) <= int(named[3])
    if not is_older:
        yield f"needs {shown['overall_tag']}"
    libraries = {*shown["external_libs"], *shown["versioned_symbols"]}
    yield from (f"needs {name}" for name in sorted(libraries) if not SYSTEM_LIBRARIES.fullmatch(name))


def of_source(path: Path) -> Iterator[str]:
    """What is wrong with the source distribution."""
    if path.name != f"{NAME}.tar.gz":
        yield f"is not named {NAME}.tar.gz"
    expected = tracked("src", "python", "patches", "docs/*.json") | {*LICENSES, "README.md", "PKG-INFO"}
    expected |= {"Cargo.lock", "Cargo.toml", "pyproject.toml"}
    with tarfile.open(path) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()]
        yield from differences(names, expected)
        yield from (f"contains {one.name}, a link" for one in archive.getmembers() if one.issym() or one.islnk())


def main(folder: Path) -> int:
    """Checks all files of a folder, and prints what is wrong with each."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    if not files:
        print(f"{folder} has no files: make wheel sdist")
        return 1
    failed = False
    for path in files:
        checks = {".whl": of_wheel, ".gz": of_source}.get(path.suffix)
        problems = list(checks(path)) if checks else ["is neither a wheel nor a source distribution"]
        code, printed = run("twine", "check", "--strict", str(path)) if checks else (0, "")
        problems += [f"twine: {printed.strip()}"] if code else []
        size = path.stat().st_size
        print(f"{path.name}: {size:,} bytes, {size / 2**20:.2f} MiB, {len(problems) or 'no'} problems")
        for problem in problems:
            print(f"  {problem}")
        failed |= bool(problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
