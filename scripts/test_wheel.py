"""Runs the Python tests on the wheel in `dist`: with each CPython that is here, or with those that are named.

    python scripts/test_wheel.py                    # all tests with the lowest Python, the main ones with the others
    python scripts/test_wheel.py python3.13         # all tests with this Python

Each Python gets a new environment in `target/envs` with the locked tools of the tests and the wheel, and sees neither
cargo nor the sources of the package.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# README, pages and notebooks; the command; searches and settings; scans; the plugin of pytest.
MAIN = [f"tests/python/{folder}" for folder in ("docs", "cli", "api", "scan", "plugin")]
# The folders where pyenv keeps its Pythons: its shims answer for the active version alone.
PYENV = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin"))
UV = str(Path(sys.executable).with_name("uv"))
# Fails unless the package of the environment is imported, and its extension module.
FROM_THE_WHEEL = """
import pathlib, sys, dataaccess
from dataaccess import _native
for module in (dataaccess, _native):
    assert pathlib.Path(module.__file__).is_relative_to(sys.prefix), module.__file__
    assert "site-packages" in module.__file__, module.__file__
assert not hasattr(_native, "set_time_scale"), "the wheel was built with the feature `testing`"
print(sys.version.split()[0], "imports", dataaccess.__file__)
"""


def find(version: str) -> str | None:
    """The path of a Python of the version."""
    paths = os.pathsep.join([*map(str, PYENV), os.environ.get("PATH", "")])
    command = [UV, "python", "find", "--no-project", "--system", "--no-python-downloads", version]
    found = subprocess.run(command, env=os.environ | {"PATH": paths}, capture_output=True, text=True, check=False)
    return found.stdout.strip() or None


def named(python: str) -> str:
    """The path of a Python that was named, without the shim of a version manager."""
    command = [python, "-c", "import sys; print(sys.executable)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def without_rust(environment: Path) -> dict[str, str]:
    """The variables of the tests: the programs of the environment first, and no folder with a Rust toolchain."""
    others = [
        folder
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if not any(shutil.which(name, path=folder) for name in ("cargo", "rustc"))
    ]
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return kept | {"PATH": os.pathsep.join([str(environment), *others])}


def install(python: str, name: str) -> Path:
    """A new environment with the tools of the tests and the wheel. Returns the folder of its programs."""
    environment = ROOT / "target" / "envs" / f"wheel-{name}"
    run = [UV, "pip", "install", "--quiet", "--no-deps", "--python", str(environment)]
    for command in (
        [UV, "venv", "--quiet", "--clear", "--python", python, str(environment)],
        [*run, "--require-hashes", "--requirement", "requirements/test.txt"],
        # The cache may have an older wheel of the same version.
        [
            *run,
            "--no-cache",
            "--no-index",
            "--find-links",
            "dist",
            "--only-binary",
            "dataaccess",
            f"dataaccess=={VERSION}",
        ],
    ):
        subprocess.run(command, cwd=ROOT, check=True)
    files = environment.glob("**/site-packages/dataaccess/_native.*")
    [module] = (path for path in files if path.suffix in {".so", ".pyd"})
    if not any(module.read_bytes() == module_of(wheel, module.name) for wheel in (ROOT / "dist").glob("*.whl")):
        sys.exit(f"{module} is of no wheel in dist")
    return environment / ("Scripts" if os.name == "nt" else "bin")


def module_of(wheel: Path, name: str) -> bytes | None:
    """The extension module of a wheel, if that has one of this name."""
    with zipfile.ZipFile(wheel) as files:
        path = f"dataaccess/{name}"
        return files.read(path) if path in files.namelist() else None


def check(python: str, name: str, tests: list[str], workers: int) -> bool:
    """Whether the tests pass with a Python."""
    programs = install(python, name)
    variables = without_rust(programs)
    interpreter = [str(programs / "python")]
    subprocess.run([*interpreter, "-c", FROM_THE_WHEEL], cwd=ROOT, env=variables, check=True)
    parallel = ["-n", str(workers), "--dist", "worksteal", "-m", "not (soak or quiet)"]
    passed = True
    for options in ([*parallel, *tests], ["-m", "quiet", *tests]):
        command = [*interpreter, "-m", "pytest", "-q", *options]
        ended = subprocess.run(command, cwd=ROOT, env=variables, check=False)
        # 5: none of these tests is quiet.
        passed &= ended.returncode in {0, 5 if options[1] == "quiet" else 0}
    return passed


def main() -> int:
    """Runs the tests, and prints what was found and what passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs="*", help="names or paths of Pythons, instead of all that are found")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--require", nargs="*", default=[], help="versions that must be here, as 3.14")
    arguments = parser.parse_args()
    if shutil.which("cargo", path=without_rust(ROOT)["PATH"]):
        parser.error("cargo is still on PATH")
    results: list[str] = []
    failed = ran = 0
    for name in arguments.pythons or VERSIONS:
        python = named(name) if arguments.pythons else find(name)
        if python is None:
            results.append(f"{name}: not on this machine")
            failed += name in arguments.require
            continue
        tests = [] if arguments.pythons or not ran else MAIN
        print(f"\n==> {name}: {python}, {'the main tests' if tests else 'all tests'}", flush=True)
        began = time.monotonic()
        passed = check(python, Path(name).name, tests, arguments.workers)
        ran += 1
        failed += not passed
        took = time.monotonic() - began
        results.append(
            f"{name}: {'passed' if passed else 'FAILED'}, {'main' if tests else 'all'} tests, {took:.0f} s, {python}"
        )
    print("\n" + "\n".join(results))
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
