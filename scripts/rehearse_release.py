"""Rehearses a release from the tag to `pip install`, with the files of `dist`; `make rehearse-release`.

Tags a commit on a scratch remote and runs the checks of release.yml on it, also on tags that they must refuse. Uploads
the files to an index of this machine, installs the package from there without a compiler, and runs the README and the
command.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import release_check
import scratch_release
from workflow_steps import ROOT, Step, blocked_by, needs, steps, workflows


class RehearsalError(Exception):
    """The rehearsal ended: something passed that must fail, or the reverse."""


def say(text: str) -> None:
    """Print one result of the rehearsal."""
    print(f"rehearsal: {text}", flush=True)


def step(file: str, job: str, part: str) -> Step:
    """The step of a workflow whose command contains a text."""
    return next(one for one in steps() if (one.file, one.job) == (file, job) and part in one.command)


def ended(command: list[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with its output."""
    return subprocess.run(command, cwd=cwd, env=os.environ | env, capture_output=True, text=True, check=False)


def run_step(one: Step, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command of a step as the runner does."""
    return ended(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one.command], cwd, **env)


def must(result: subprocess.CompletedProcess[str], what: str) -> str:
    """The output of what must succeed."""
    if result.returncode:
        raise RehearsalError(f"{what} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def must_refuse(result: subprocess.CompletedProcess[str], what: str, reason: str) -> None:
    """What must fail for this reason, did."""
    text = result.stdout + result.stderr
    if not result.returncode or reason not in text:
        raise RehearsalError(f"{what}: it was not refused because `{reason}`:\n{text}")
    say(f"refused, {what}: {next(line.strip() for line in text.splitlines() if reason in line)}")


def plan(remote: Path, tag: str) -> subprocess.CompletedProcess[str]:
    """The step of the job `plan`, on a new clone of a tag."""
    with tempfile.TemporaryDirectory(dir=remote.parent) as folder:
        checkout = scratch_release.clone(remote, Path(folder) / "checkout", tag=tag)
        return run_step(step("release.yml", "plan", "release_check.py plan"), checkout, TAG=tag)


def rehearse_tags(folder: Path) -> tuple[Path, str]:
    """Tags that the plan refuses, then the tag of the release; a checkout of it, and its name."""
    remote = scratch_release.remote(folder)
    work = scratch_release.clone(remote, folder / "work")
    version = release_check.cargo_version(work)
    tag = f"v{version}"

    scratch_release.git(work, "checkout", "--quiet", "-B", "main")
    undated = re.sub(
        rf"^## {re.escape(version)} \(.*\)$", f"## {version} (unreleased)", changelog(work), flags=re.MULTILINE
    )
    (work / "CHANGELOG.md").write_text(undated, encoding="utf-8")
    scratch_release.git(work, "commit", "--quiet", "--allow-empty", "--all", "--message", "Not released yet")
    scratch_release.tag_and_push(work, tag)
    must_refuse(plan(remote, tag), "a changelog without a date", "write the date of the release")
    scratch_release.git(work, "push", "--quiet", "origin", "--delete", tag)
    scratch_release.git(work, "tag", "--delete", tag)

    scratch_release.prepare(work)
    scratch_release.git(work, "push", "--quiet", "origin", "HEAD:main")
    scratch_release.git(work, "tag", "--annotate", "v99.0.0", "--message", "v99.0.0")
    scratch_release.git(work, "push", "--quiet", "origin", "v99.0.0")
    must_refuse(plan(remote, "v99.0.0"), "a tag that is not the version", "has version")

    scratch_release.git(work, "checkout", "--quiet", "-b", "side")
    scratch_release.git(work, "commit", "--quiet", "--allow-empty", "--message", "Not on main")
    scratch_release.git(work, "tag", "--annotate", tag, "--message", tag)
    scratch_release.git(work, "push", "--quiet", "origin", tag)
    must_refuse(plan(remote, tag), "a commit that is not on main", "is not on origin/main")
    scratch_release.git(work, "push", "--quiet", "origin", "--delete", tag)
    scratch_release.git(work, "tag", "--delete", tag)

    scratch_release.git(work, "checkout", "--quiet", "main")
    scratch_release.tag_and_push(work, tag)
    must(plan(remote, tag), f"the plan of {tag}")
    say(f"the plan accepts {tag}")
    return scratch_release.clone(remote, folder / "release", tag=tag), tag


def rehearse_pages(checkout: Path) -> None:
    """The tests of the pages pass on the commit of the release, whose pages have changed."""
    tests = ["tests/python/docs/test_checkout.py", "tests/python/docs/test_pages.py", "tests/python/workflows"]
    must(ended([sys.executable, "-m", "pytest", "--quiet", *tests], checkout), "the tests of the pages")
    say("the tests of the pages pass on the commit of the release")


def changelog(checkout: Path) -> str:
    """The text of CHANGELOG.md."""
    return (checkout / "CHANGELOG.md").read_text(encoding="utf-8")


def rehearse_red_ci(checkout: Path) -> None:
    """One job of ci.yml that fails is the failure of its job `check`, and keeps `publish` from running."""
    jobs, check = workflows(checkout), step("ci.yml", "check", "jq")
    results = {name: {"result": "success"} for name in needs(jobs["ci.yml"]["jobs"]["check"])}
    must(run_step(check, checkout, NEEDS=json.dumps(results)), "the job `check`")
    must_refuse(
        run_step(check, checkout, NEEDS=json.dumps(results | {"test": {"result": "failure"}})), "a red ci", "failure"
    )
    blocked = blocked_by(jobs["release.yml"]["jobs"], "publish", {"ci": "failure"})
    if "ci" not in blocked:
        raise RehearsalError("`publish` would run although `ci` failed")
    waits = ", ".join(needs(jobs["release.yml"]["jobs"]["publish"]))
    say(f"`publish` waits for {waits}; a failed `ci` keeps it from running")


def rehearse_files(checkout: Path, dist: Path, tag: str) -> None:
    """The files of this machine are a part of a release, and the check of all of them names the others."""
    version = tag.removeprefix("v")
    kinds = [kind for kind in (release_check.kind_of(path.name, version) for path in sorted(dist.glob("*"))) if kind]
    if "sdist" not in kinds or kinds == ["sdist"]:
        raise RehearsalError(f"{dist} has {', '.join(kinds) or 'no file'} of {version}; run: make wheel sdist")
    script = [sys.executable, str(checkout / "scripts" / "release_check.py"), "--root", str(checkout)]
    listed = must(ended([*script, "files", str(dist), "--only", *kinds], checkout), "the check of the files")
    say("the files are as expected:\n" + listed.rstrip())
    if missing := [kind for kind in release_check.KINDS if kind not in kinds]:
        must_refuse(
            ended([*script, "files", str(dist)], checkout), "a release without all files", f"no file for {missing[0]}"
        )
    sbom = checkout / "sbom"
    must(ended([*script, "sbom", str(dist), str(sbom)], checkout), "the SBOMs")
    say(f"SBOMs: {', '.join(sorted(path.name for path in sbom.iterdir()))}")
    notes = must(ended([*script, "notes", tag], checkout), "the notes")
    say(f"the notes of the release have {len(notes.splitlines())} lines")


@contextlib.contextmanager
def index(tools: Path, packages: Path) -> Iterator[str]:
    """The address of an index of this machine, which has no packages of others."""
    packages.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [tools / "pypi-server", "run", "--interface", "127.0.0.1", "--port", str(port), "--disable-fallback"]
    log = (packages.parent / "index.log").open("w")
    server = subprocess.Popen([*command, "--authenticate", ".", "--passwords", ".", packages], stdout=log, stderr=log)
    try:
        for _ in range(200):
            if server.poll() is not None:
                raise RehearsalError(f"the index ended:\n{Path(log.name).read_text(encoding='utf-8')}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
        log.close()


def rehearse_upload(tools: Path, address: str, dist: Path) -> None:
    """Upload all files at once; the same files a second time are refused."""
    upload = [
        str(tools / "twine"),
        "--no-color",
        "upload",
        "--disable-progress-bar",
        "--non-interactive",
        "--repository-url",
        address,
    ]
    upload += ["--username", "rehearsal", "--password", "rehearsal", *map(str, sorted(dist.glob("dataaccess-*")))]
    must(ended(upload, dist), "the upload")
    say("uploaded to the index of this machine")
    must_refuse(ended(upload, dist), "a second upload", "HTTPError: 4")


def rehearse_installation(checkout: Path, address: str, folder: Path) -> None:
    """A new environment without cargo installs from the index, and runs the command and the README."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    path = f"{environment / 'bin'}:/usr/bin:/bin"
    if found := shutil.which("cargo", path=path):
        raise RehearsalError(f"{found} is on the PATH of the new environment")
    # Neither settings of pip nor variables name another index.
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("DATAACCESS", "PIP_", "PYTHON"))}
    clean |= {"HOME": str(folder), "PATH": path, "PIP_CONFIG_FILE": os.devnull}

    def run(*words: str, what: str) -> str:
        return must(
            subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, check=False),
            what,
        )

    address = f"{address}/simple/"
    pip = ("pip", "install", "--no-cache-dir", "--index-url", address, "--only-binary", "dataaccess")
    run(*pip, "dataaccess", what="pip install dataaccess")
    say("pip installed dataaccess from the index of this machine")
    # What the example and the command need comes from the usual index, in the locked versions.
    install = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--python", str(environment)]
    install += ["--constraint", "requirements/test.txt", "--requirement", "pyproject.toml"]
    must(ended([*install, "--extra", "cli", "--extra", "pandas"], checkout), "the libraries of the README")
    shown = run("dataaccess", "--version", what="dataaccess --version").strip()
    if release_check.cargo_version(checkout) not in shown:
        raise RehearsalError(f"`dataaccess --version` is of another version: {shown}")
    say(f"`dataaccess --version`: {shown}")
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    example = readme.partition("```python\n")[2].partition("```")[0]
    run("python", "-c", example + "\nassert len(frame) > len(used) > 0", what="the first example of README.md")
    say("the first example of README.md ran")


def main() -> int:
    """Rehearse; 1 with the reason if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="the files of the release")
    parser.add_argument("--tools", type=Path, required=True, help="the folder of pypi-server and twine")
    given = parser.parse_args()
    dist, tools = given.dist.resolve(), given.tools.resolve()
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as name:
        folder = Path(name)
        try:
            checkout, tag = rehearse_tags(folder)
            rehearse_pages(checkout)
            rehearse_red_ci(checkout)
            rehearse_files(checkout, dist, tag)
            with index(tools, folder / "packages") as address:
                rehearse_upload(tools, address, dist)
                rehearse_installation(checkout, address, folder)
        except RehearsalError as error:
            print(f"rehearsal: {error}", file=sys.stderr)
            return 1
    say(f"{tag} was released in scratch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
