"""What a build is made of, and what runs while it is built and installed, as SECURITY.md says it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.pages import ROOT, table

LOCK: list[dict[str, Any]] = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
SECURITY = ROOT / "SECURITY.md"
PATCHED = "crc-fast"


def test_every_crate_has_a_checksum_and_comes_from_one_registry() -> None:
    ours = [crate["name"] for crate in LOCK if "source" not in crate]
    assert sorted(ours) == [PATCHED, "dataaccess"]
    others = [crate for crate in LOCK if "source" in crate]
    assert len({crate["source"] for crate in others}) == 1
    assert others[0]["source"].startswith("registry+")
    assert [crate["name"] for crate in others if not re.fullmatch("[0-9a-f]{64}", crate.get("checksum", ""))] == []


def test_a_replaced_crate_is_marked() -> None:
    """Scanners and people see the truth: the version says what the crate is, and where it is from."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert manifest["patch"] == {"crates-io": {PATCHED: {"path": f"patches/{PATCHED}"}}}
    package = tomllib.loads((ROOT / "patches" / PATCHED / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    (locked,) = [crate for crate in LOCK if crate["name"] == PATCHED]
    assert locked == {"name": PATCHED, "version": package["version"]}
    assert re.fullmatch(r"\d+\.\d+\.\d+\+dataaccess\.[a-z0-9.]+", package["version"])
    assert package["authors"] == ["the dataaccess authors"]
    assert "without code of the public crate" in package["description"]
    assert "repository" not in package
    for page in (SECURITY, ROOT / "patches" / PATCHED / package["readme"]):
        assert package["version"] in page.read_text(encoding="utf-8"), page


def test_the_crates_with_code_in_c_have_the_versions_that_the_page_names() -> None:
    crates = {crate["name"]: crate["version"] for crate in LOCK}
    rows = table(SECURITY, "## Code of others")
    named = [re.fullmatch(r"`([\w-]+) ([\w.+-]+)`", row[2]) for row in rows]
    assert {row[0] for row in rows} == {"AWS-LC", "SQLite", "zstd"}
    for found in named:
        assert found is not None
        assert crates[found[1]] == found[2]


@pytest.mark.parametrize("group", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.stem)
def test_every_tool_is_locked_with_hashes(group: Path) -> None:
    text = re.sub(r"\s*\\\n\s*", " ", group.read_text(encoding="utf-8"))
    needed = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert needed
    assert [line for line in needed if not re.match(r"[\w.\[\],-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []


def test_no_script_of_this_package_runs_when_it_is_built_or_installed() -> None:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    assert "build" not in package
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["build-system"]["build-backend"] == "maturin"
    assert "backend-path" not in project["build-system"]
    scripts = [ROOT / "build.rs", ROOT / "patches" / PATCHED / "build.rs", ROOT / "setup.py"]
    assert [path for path in scripts if path.exists()] == []
    assert [path for path in (ROOT / "python").rglob("*") if path.suffix == ".pth" or "customize" in path.stem] == []


def test_every_action_is_named_by_its_commit() -> None:
    files = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / ".github").rglob("*.yaml")]
    used = [
        (path.name, name)
        for path in files
        for name in re.findall(r"^\s*(?:- )?uses: *(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert used
    # `$/` is this repository at the commit that runs.
    assert [each for each in used if not each[1].startswith("$/") and not re.search("@[0-9a-f]{40}$", each[1])] == []


def test_the_supported_version_is_that_of_the_package() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
    minor = ".".join(version.split(".")[:2])
    assert [row[:2] for row in table(SECURITY, "## Supported versions")] == [[f"{minor}.x", "yes"], ["older", "no"]]
