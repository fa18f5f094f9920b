"""A release in scratch: a bare remote with the last commit of this checkout, dated and tagged, and clones of it.

`dry_run.py` and `rehearse_release.py` use it. This checkout and its remotes are only read.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import release_check
from workflow_steps import ROOT

# No settings of the user: no signing, no hooks.
IDENTITY = ("-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, which must succeed."""
    ended = subprocess.run(
        ["git", *IDENTITY, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"git {' '.join(arguments)} failed in {folder}: {ended.stderr.strip()}")
    return ended.stdout.strip()


def remote(folder: Path) -> Path:
    """A bare repository whose branch `main` is the last commit of this checkout, without tags."""
    bare = folder / "remote.git"
    bare.mkdir(parents=True)
    git(bare, "init", "--quiet", "--bare", "--initial-branch", "main")
    git(ROOT, "push", "--quiet", str(bare), "HEAD:refs/heads/main")
    return bare


def clone(bare: Path, into: Path, *, tag: str | None = None) -> Path:
    """A clone of main, or of a tag, with all of the history, as the workflow checks it out."""
    git(bare.parent, "clone", "--quiet", *(["--branch", tag] if tag else []), str(bare), str(into))
    return into


def prepare(checkout: Path, day: str | None = None) -> None:
    """Commit what a release needs: its day, today by default, in CHANGELOG.md, pages that know of it, and addresses."""
    for name in ("README.md", "SECURITY.md", *git(checkout, "ls-files", "docs/*.md").splitlines()):
        said = (checkout / name).read_text(encoding="utf-8")
        (checkout / name).write_text(release_check.UNPUBLISHED.sub("this is published", said), encoding="utf-8")
    readme, project = checkout / "README.md", checkout / "pyproject.toml"
    absolute = release_check.RELATIVE_LINK.sub(r"](https://example.com/\1)", readme.read_text(encoding="utf-8"))
    before, _, rest = absolute.partition("```sh\n")
    install = '```sh\npip install "dataaccess[pandas,cli]"\n```'
    readme.write_text(before + install + rest.partition("```")[2], encoding="utf-8")
    urls = '\n[project.urls]\nSource = "https://example.com"\n'
    project.write_text(project.read_text(encoding="utf-8") + urls, encoding="utf-8")
    page = checkout / "CHANGELOG.md"
    day = day or datetime.now(UTC).date().isoformat()
    version = release_check.cargo_version(checkout)
    text, count = re.subn(
        rf"^## {re.escape(version)} \(.*\)$",
        f"## {version} ({day})",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    if count != 1:
        raise RuntimeError(f"CHANGELOG.md has {count} headings of {version}, not one")
    page.write_text(text, encoding="utf-8")
    git(checkout, "commit", "--quiet", "--allow-empty", "--all", "--message", f"Release: {version}")


def tag_and_push(checkout: Path, tag: str) -> None:
    """Tag the commit and push main and the tag."""
    git(checkout, "tag", "--annotate", tag, "--message", tag)
    git(checkout, "push", "--quiet", "origin", "HEAD:main", tag)
