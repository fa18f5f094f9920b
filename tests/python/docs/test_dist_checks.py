"""`make check-dist`: accepts a wheel and a source distribution as they are built, and names what is wrong with others.

The audits of other tools (auditwheel, abi3audit, twine) are not installed here and left out.
"""

from __future__ import annotations

import importlib.util
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.pages import ROOT

# What auditwheel says of a wheel that needs glibc alone.
AUDIT = {
    "overall_tag": "manylinux_2_28_x86_64",
    "versioned_symbols": {"libc.so.6": ["GLIBC_2.28"], "libpthread.so.0": ["GLIBC_2.12"]},
    "external_libs": {},
}


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, without the tools of others."""
    spec = importlib.util.spec_from_file_location("check_dist", ROOT / "scripts" / "check_dist.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "run", lambda tool, *_: (0, json.dumps(AUDIT) if tool == "auditwheel" else ""))
    return module


@pytest.fixture
def contents(checks: ModuleType) -> dict[str, str]:
    """The files of a wheel."""
    info = f"{checks.NAME}.dist-info"
    groups = {"console_scripts": checks.PROJECT["scripts"], **checks.PROJECT["entry-points"]}
    points = "\n".join(
        line for group, names in groups.items() for line in [f"[{group}]", *(f"{k}={v}" for k, v in names.items())]
    )
    patched = [checks.toml(path)["package"] for path in sorted((ROOT / "patches").glob("*/Cargo.toml"))]
    components = [
        {"name": one["name"], "version": one["version"], "purl": "pkg:cargo/it?download_url=file://it"}
        for one in patched
    ]
    locked = checks.toml(ROOT / "Cargo.lock")["package"]
    components += [one for one in locked if one["name"] in {"libsqlite3-sys", "object_store", "rustls"}]
    files = {name.removeprefix("python/"): "" for name in checks.tracked("python")}
    files |= {f"{info}/{name}": "" for name in ("METADATA", "RECORD", "WHEEL")}
    files |= {f"{info}/licenses/{name}": "" for name in checks.PROJECT["license-files"]}
    files[f"{info}/entry_points.txt"] = points
    files[f"{info}/sboms/dataaccess.cyclonedx.json"] = json.dumps({"bomFormat": "CycloneDX", "components": components})
    files["dataaccess/_native.abi3.so"] = ""
    return files


@pytest.fixture
def problems(checks: ModuleType, tmp_path: Path) -> Callable[..., list[str]]:
    """Writes a wheel, and returns what is wrong with it."""

    def check(files: dict[str, str], platform: str = "manylinux_2_28_x86_64") -> list[str]:
        path = tmp_path / f"{checks.NAME}-cp311-abi3-{platform}.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for name, text in files.items():
                wheel.writestr(name, text)
        return list(checks.of_wheel(path))

    return check


@pytest.mark.parametrize("tag", ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64"])
def test_a_wheel_is_accepted(
    problems: Callable[..., list[str]], contents: dict[str, str], monkeypatch: pytest.MonkeyPatch, tag: str
) -> None:
    monkeypatch.setitem(AUDIT, "overall_tag", tag)
    assert problems(contents) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"dataaccess/py.typed": None}, "lacks dataaccess/py.typed"),
        ({"dataaccess/_native.abi3.so": None}, "lacks dataaccess/_native.abi3.so"),
        ({"INFO/licenses/LICENSE-MIT": None}, "lacks INFO/licenses/LICENSE-MIT"),
        ({"tests/test_it.py": ""}, "contains tests/test_it.py"),
        ({"dataaccess/_native.cpython-311-x86_64-linux-gnu.so": ""}, "contains dataaccess/_native.cpython-311"),
        ({"INFO/entry_points.txt": "[console_scripts]\n"}, "lacks dataaccess=dataaccess.cli:main"),
        ({"INFO/sboms/dataaccess.cyclonedx.json": '{"bomFormat": "CycloneDX"}'}, "of components lacks crc-fast"),
        ({"dataaccess/_native.abi3.so": "x" * (8 * 2**20)}, "is larger than 8,388,608 bytes"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_changed_wheel_is_refused(
    problems: Callable[..., list[str]],
    contents: dict[str, str],
    checks: ModuleType,
    change: dict[str, str | None],
    problem: str,
) -> None:
    info = f"{checks.NAME}.dist-info"
    for name, text in change.items():
        path = name.replace("INFO", info)
        if text is None:
            del contents[path]
        else:
            contents[path] = text
    found = problems(contents)
    assert any(problem.replace("INFO", info) in one for one in found), found


def test_a_crate_that_is_not_compiled_is_refused(
    problems: Callable[..., list[str]], contents: dict[str, str], checks: ModuleType
) -> None:
    path = f"{checks.NAME}.dist-info/sboms/dataaccess.cyclonedx.json"
    listed: dict[str, Any] = json.loads(contents[path])
    # A build dependency; and a version that is nowhere.
    cmake = next(one for one in checks.toml(ROOT / "Cargo.lock")["package"] if one["name"] == "cmake")
    listed["components"] += [{key: cmake[key] for key in ("name", "version")}, {"name": "bytes", "version": "0.0.1"}]
    contents[path] = json.dumps(listed)
    assert sorted(problems(contents)) == [
        "lists the component bytes 0.0.1, which Cargo.lock lacks",
        "lists the component bytes 0.0.1, which is not compiled into a wheel",
        f"lists the component cmake {cmake['version']}, which is not compiled into a wheel",
    ]


@pytest.mark.parametrize("platform", ["linux_x86_64", "manylinux_2_34_x86_64", "manylinux_2_28_riscv64"])
def test_a_wheel_for_another_platform_is_refused(
    problems: Callable[..., list[str]], contents: dict[str, str], platform: str
) -> None:
    assert any("with a platform that is published" in one for one in problems(contents, platform))


@pytest.mark.parametrize(
    ("shown", "problem"),
    [
        ({"overall_tag": "manylinux_2_34_x86_64"}, "needs manylinux_2_34_x86_64"),
        ({"overall_tag": "linux_x86_64"}, "needs linux_x86_64"),
        ({"external_libs": {"libssl.so.3": "libssl.so.3"}}, "needs libssl.so.3"),
        ({"versioned_symbols": {"libgcc_s.so.1": ["GCC_3.0"]}}, "needs libgcc_s.so.1"),
    ],
)
def test_a_wheel_that_needs_a_newer_system_is_refused(
    problems: Callable[..., list[str]],
    contents: dict[str, str],
    checks: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    shown: dict[str, Any],
    problem: str,
) -> None:
    audit = AUDIT | shown
    monkeypatch.setattr(checks, "run", lambda tool, *_: (0, json.dumps(audit) if tool == "auditwheel" else ""))
    assert any(problem in one for one in problems(contents))


@pytest.mark.parametrize(("library", "found"), [("libc.so", []), ("libz.so.1", ["needs libz.so.1"])])
def test_a_wheel_for_musl_needs_its_c_library_alone(
    problems: Callable[..., list[str]],
    contents: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    found: list[str],
) -> None:
    monkeypatch.setitem(AUDIT, "overall_tag", "linux_x86_64")
    monkeypatch.setitem(AUDIT, "external_libs", {library: None})
    monkeypatch.setitem(AUDIT, "versioned_symbols", {})
    assert problems(contents, "musllinux_1_2_x86_64") == found


def test_the_source_distribution_has_what_compiles_and_nothing_else(checks: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / f"{checks.NAME}.tar.gz"
    names = checks.tracked("src", "python", "patches", "docs/*.json")
    names |= {"README.md", "PKG-INFO", "Cargo.lock", "Cargo.toml", "pyproject.toml", *checks.PROJECT["license-files"]}

    def written(files: set[str]) -> list[str]:
        with tarfile.open(path, "w:gz") as archive:
            for name in sorted(files):
                archive.addfile(tarfile.TarInfo(f"{checks.NAME}/{name}"), io.BytesIO())
        return list(checks.of_source(path))

    assert written(names) == []
    assert written(names - {"docs/openapi.json"}) == ["lacks docs/openapi.json"]
    assert written(names | {"tests/rust/main.rs"}) == ["contains tests/rust/main.rs"]
