"""A checkout: its commands, the profiles of its builds, and the versions that it installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from support.pages import PAGES, README, ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = ROOT / "requirements"


def pinned(group: str) -> set[str]:
    """The versions of a file of `requirements`, as `name==version`."""
    lines = (REQUIREMENTS / f"{group}.txt").read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if "==" in line.partition(" ")[0]}


VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]


# By the heading of the newest version: docs/releasing.md says what the first release changes.
RELEASED = not re.search(r"^## \S+ \(unreleased\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_first_commands_of_the_readme_install_the_package() -> None:
    before, _, rest = README.read_text(encoding="utf-8").partition("```sh\n")
    block = rest.partition("```")[0]
    commands = [re.split(r"\s+#", line)[0] for line in block.splitlines()]
    if RELEASED:
        assert commands[0] == 'pip install "dataaccess[pandas,cli]"'
        return
    wheel = f"./dist/dataaccess-{VERSION}-cp311-abi3-manylinux_2_28_x86_64.whl"
    # Not in the block, which is copied as a whole: before the first release it is another package.
    assert '`pip install "dataaccess[pandas,cli]"`, from the first release on' in before.rpartition("\n## ")[2]
    assert commands == ["make wheel", f'pip install "{wheel}[pandas,cli]"', "make demo test"]
    assert "\nPLATFORM_gnu = manylinux_2_28\n" in MAKEFILE


def test_the_wheels_on_pages_are_of_this_version() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    named = [name for text in texts for name in re.findall(r"dataaccess-([\w.]+)-cp311-abi3-\w+\.whl", text)]
    assert RELEASED or len(named) >= 3
    assert set(named) <= {VERSION}


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/performance.md", "benches/RESULTS.md", "tests/README.md", ".ci/run"]
)
def test_every_target_that_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^ *)make ([a-z0-9-]+)", text, re.MULTILINE))
    targets = {name for line in re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE) for name in line.split()}
    parts = re.findall(r"^BENCH(?:E|_PART)S = (.*)$", MAKEFILE, re.MULTILINE)
    targets |= {name if name.startswith("bench-") else f"bench-{name}" for part in parts for name in part.split()}
    assert named
    assert named <= targets


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("make"), reason="needs make")
def test_uv_trusts_the_certificates_of_the_system() -> None:
    probe = "include Makefile\nprobe:\n\t@echo $$UV_SYSTEM_CERTS\n"
    bare = {"HOME": os.environ.get("HOME", "/"), "PATH": os.environ["PATH"]}
    for environment, expected in ((bare, "true\n"), (bare | {"UV_SYSTEM_CERTS": "false"}, "false\n")):
        ended = subprocess.run(  # noqa: S603
            [shutil.which("make") or "", "-f", "-", "probe"],
            input=probe,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ended.stdout == expected


def test_wheels_and_benchmarks_are_built_with_the_profile_dist() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["profile"]
    assert cargo["dist"]["lto"] == "fat"
    assert "lto" not in cargo["release"], "`pip install .` compiles with it"
    assert cargo["bench"] == {"inherits": "dist"}
    assert "--release" not in MAKEFILE
    assert "--profile dist" in MAKEFILE
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert "maturin" not in workflow, "workflows build by make"


@pytest.mark.parametrize("group", ["build", "demo", "lint"])
def test_groups_of_one_environment_have_the_same_versions(group: str) -> None:
    test = pinned("test")
    names = {one.partition("==")[0] for one in test}
    assert {one for one in pinned(group) if one.partition("==")[0] in names} <= test


@pytest.mark.parametrize(
    ("file", "extra"),
    [
        *(("test", extra) for extra in ("pandas", "polars", "arrow", "cli", "progress")),
        ("airflow", "airflow"),
        ("spark", "spark"),
    ],
)
def test_the_lowest_versions_of_an_extra_are_those_of_its_tests(file: str, extra: str) -> None:
    lowest = pinned(f"lowest-{file}")
    for requirement in PYPROJECT["project"]["optional-dependencies"][extra]:
        name, bound = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
        assert any(one == f"{name}=={bound}" or one.startswith(f"{name}=={bound}.") for one in lowest), requirement
