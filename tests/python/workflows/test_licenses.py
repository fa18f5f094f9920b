"""`licenses/crates.txt`, which a wheel contains: the crates that are compiled into it, with their licences."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import licensed
import pytest

ROOT = Path(__file__).parents[3]
# Of a wheel, as pyproject.toml says.
TREE = "cargo tree --locked --no-default-features --edges normal,no-proc-macro --prefix none --format {p} --features"


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo lists the crates")
def test_each_crate_in_a_wheel_is_listed() -> None:
    features = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]["features"]
    command = [*TREE.split(), ",".join(features)]
    tree = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    compiled = {(name, version) for name, version in re.findall(r"^(\S+) v(\S+)", tree.stdout, re.MULTILINE)}
    assert len(compiled) > 100
    assert compiled - licensed.crates() == set(), "run make licenses"


def test_each_text_names_whose_it_is() -> None:
    text = licensed.PAGE.read_text(encoding="utf-8")
    # Apache-2.0 has an appendix that shows how to use it.
    blanks = re.findall(r"^.*(?:<year>|<owner>|<copyright holders>).*$", text, re.MULTILINE | re.IGNORECASE)
    assert blanks == []
    for whose in ("Amazon.com", "The OpenSSL Project", "The Apache Software Foundation", "Meta Platforms"):
        assert whose in text, whose


def test_no_crate_is_listed_in_another_version() -> None:
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    assert licensed.crates() - {(crate["name"], crate["version"]) for crate in locked} == set(), "run make licenses"
