"""Checks of a release, which `.github/workflows` runs, and a maintainer by hand: docs/releasing.md.

    python scripts/release_check.py plan v1.2.3        # in a checkout of the tag
    python scripts/release_check.py files dist         # every file of a release is in `dist`, and nothing else
    python scripts/release_check.py notes v1.2.3       # the section of CHANGELOG.md
    python scripts/release_check.py sbom dist out      # the SBOM of each wheel, into `out`

All problems are printed together, and the exit code is 1. It needs the standard library alone: nothing is installed
before `plan`.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from datetime import date
from pathlib import Path

TAG = re.compile(r"v(\d+\.\d+\.\d+)")
# Sentences of pages that the first release makes wrong.
UNPUBLISHED = re.compile(
    r"no\s+release\s+is\s+on\s+the\s+public\s+index|nothing\s+is\s+published"
    r"|(until|from|before)\s+the\s+first\s+release|so\s+far\s+only|none\s+was\s+published|package\s+of\s+this\s+name",
    re.IGNORECASE,
)
# A link of a page that works beside the other pages alone.
RELATIVE_LINK = re.compile(r"\]\((?!https?://|#)([^)\s]+)\)")
HEADING = re.compile(r"^## (\S+) \((.*)\)$", re.MULTILINE)

# One wheel a platform, and the source distribution: the tag of the platform in the name of the file.
WHEELS = {
    "manylinux-x86_64": r"manylinux_2_28_x86_64",
    "manylinux-aarch64": r"manylinux_2_28_aarch64",
    "musllinux-x86_64": r"musllinux_1_2_x86_64",
    "musllinux-aarch64": r"musllinux_1_2_aarch64",
    "macos-arm64": r"macosx_\d+_\d+_arm64",
    "macos-x86_64": r"macosx_\d+_\d+_x86_64",
    "windows-x86_64": r"win_amd64",
}
KINDS = [*WHEELS, "sdist"]


def cargo_version(root: Path) -> str:
    """The version of the package: wheels and `dataaccess.__version__` have it from Cargo.toml."""
    version = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
    return str(version)


def locked_version(root: Path) -> str | None:
    """The version of the package in Cargo.lock."""
    packages = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    return next((str(one["version"]) for one in packages if one["name"] == "dataaccess"), None)


def git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in the checkout."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)


def problems_of_the_commit(root: Path, tag: str, main: str) -> list[str]:
    """The checkout is the commit of the tag, and that commit is on main."""
    head = git(root, "rev-parse", "HEAD").stdout.strip()
    tagged = git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}").stdout.strip()
    if not tagged:
        return [f"there is no tag {tag} in this checkout; fetch it: git fetch --tags"]
    if tagged != head:
        return [f"the checkout is at {head[:12]}, and {tag} is {tagged[:12]}; check out the tag"]
    if git(root, "rev-parse", "--verify", "--quiet", main).returncode:
        return [f"there is no branch {main} in this checkout; fetch it with its history"]
    if git(root, "merge-base", "--is-ancestor", tagged, main).returncode:
        return [f"the commit of {tag}, {tagged[:12]}, is not on {main}; tag a commit of main"]
    return []


def problems_of_the_version(root: Path, version: str) -> list[str]:
    """Cargo.toml, Cargo.lock and the newest heading of CHANGELOG.md have this version; the heading has a date."""
    problems = []
    for file, found in (("Cargo.toml", cargo_version(root)), ("Cargo.lock", locked_version(root))):
        if found != version:
            problems.append(f"{file} has version {found}, and the tag {version}")
    heading = HEADING.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if heading is None or heading[1] != version:
        newest = heading[1] if heading else "none"
        problems.append(f"the newest heading of CHANGELOG.md is of {newest}, not of {version}")
    elif not is_date(heading[2]):
        problems.append(f"CHANGELOG.md has `{heading[0]}`; write the date of the release: `## {version} (YYYY-MM-DD)`")
    return problems


def problems_of_the_pages(root: Path) -> list[str]:
    """No page says that there is no release."""
    pages = [root / "README.md", root / "SECURITY.md", *sorted((root / "docs").glob("*.md"))]
    # releasing.md says what to do before the first one.
    read = {page: page.read_text(encoding="utf-8") for page in pages if page.is_file() and page.name != "releasing.md"}
    return [
        f"{page.relative_to(root)} has `{' '.join(found[0].split())}`: say what is true from now on"
        for page, text in read.items()
        for found in UNPUBLISHED.finditer(text)
    ]


def problems_of_the_addresses(root: Path) -> list[str]:
    """The index shows addresses of the project, and the README without the pages beside it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    links = RELATIVE_LINK.findall((root / "README.md").read_text(encoding="utf-8"))
    problems = []
    if not project.get("urls"):
        problems.append("pyproject.toml has no [project.urls]: name the source, the documentation and the changelog")
    if links:
        problems.append(
            f"README.md has {len(links)} links that do not work on the index, such as `{links[0]}`: add the address"
        )
    return problems


def is_date(text: str) -> bool:
    """Whether the text is a day as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def plan(root: Path, tag: str, main: str) -> list[str]:
    """Problems of a tag, before anything is built."""
    matched = TAG.fullmatch(tag)
    if matched is None:
        return [f"{tag} is not a tag of a release; it must have the form v1.2.3"]
    return [
        *problems_of_the_commit(root, tag, main),
        *problems_of_the_version(root, matched[1]),
        *problems_of_the_pages(root),
        *problems_of_the_addresses(root),
    ]


def kind_of(name: str, version: str) -> str | None:
    """Which file of a release has this name: a key of `WHEELS`, `sdist`, or none."""
    if name == f"dataaccess-{version}.tar.gz":
        return "sdist"
    for kind, platform in WHEELS.items():
        if re.fullmatch(rf"dataaccess-{re.escape(version)}-cp311-abi3-{platform}\.whl", name):
            return kind
    return None


def files(folder: Path, version: str, kinds: list[str]) -> list[str]:
    """Problems of the files: one of each kind, none empty, and no other file."""
    if not folder.is_dir():
        return [f"there is no folder {folder}"]
    problems, found = [], dict.fromkeys(kinds, 0)
    for path in sorted(folder.iterdir()):
        kind = kind_of(path.name, version)
        if kind not in found:
            problems.append(f"{path.name} is not expected among the files of {version}")
        elif not path.is_file() or not path.stat().st_size:
            problems.append(f"{path.name} is empty")
        else:
            found[kind] += 1
    problems += [f"there is no file for {kind}" for kind, count in found.items() if not count]
    problems += [f"there are {count} files for {kind}" for kind, count in found.items() if count > 1]
    return problems


def sboms(folder: Path, into: Path) -> list[str]:
    """Write the CycloneDX SBOM of each wheel, which maturin places into `.dist-info/sboms`, beside the wheel's name."""
    into.mkdir(parents=True, exist_ok=True)
    problems = []
    for path in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            names = [name for name in wheel.namelist() if re.search(r"\.dist-info/sboms/.*\.cyclonedx\.json$", name)]
            if len(names) != 1:
                problems.append(f"{path.name} has {len(names)} CycloneDX SBOMs in .dist-info/sboms, not one")
                continue
            (into / f"{path.stem}.cyclonedx.json").write_bytes(wheel.read(names[0]))
    return problems


def notes(root: Path, tag: str) -> str | None:
    """The section of CHANGELOG.md for the tag, without its heading."""
    for section in re.split(r"^(?=## )", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE):
        if section.startswith(f"## {tag.removeprefix('v')} ("):
            return section.partition("\n")[2].strip()
    return None


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout; the working directory by default")
    commands = parser.add_subparsers(dest="command", required=True)
    planning = commands.add_parser("plan", help="check a tag before anything is built")
    planning.add_argument("tag")
    planning.add_argument("--main", default="origin/main", help="the branch that must have the commit")
    listing = commands.add_parser("files", help="check the names of the files of a release")
    listing.add_argument("folder", type=Path)
    listing.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=", ".join(KINDS))
    section = commands.add_parser("notes", help="print the section of CHANGELOG.md")
    section.add_argument("tag")
    extraction = commands.add_parser("sbom", help="write the SBOM of each wheel")
    extraction.add_argument("folder", type=Path)
    extraction.add_argument("into", type=Path)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run one check; 1 if it found problems."""
    given = parsed(arguments)
    if given.command == "notes":
        text = notes(given.root, given.tag)
        problems = [] if text else [f"CHANGELOG.md has no section for {given.tag}"]
        print(text or "", end="\n" if text else "")
    elif given.command == "plan":
        problems = plan(given.root, given.tag, given.main)
    elif given.command == "sbom":
        problems = sboms(given.folder, given.into)
    else:
        problems = files(given.folder, cargo_version(given.root), given.only)
        if not problems:
            for path in sorted(given.folder.iterdir()):
                print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
    for problem in problems:
        print(f"release_check: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
