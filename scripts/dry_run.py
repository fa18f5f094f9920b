"""Runs the steps of the workflows that can run here, and accounts for all others.

    python scripts/dry_run.py                 # the quick steps
    python scripts/dry_run.py --all           # those of minutes too
    python scripts/dry_run.py --only 'ci.yml lint'   # all steps of the jobs whose name contains this
    python scripts/dry_run.py --list          # runs nothing

Steps run in a clone of the last commit below target/dry-run, dated and tagged as a release. A step is made of make
targets, scripts of this repository and the programs of `PLAIN`, or it is in `HOSTED_ONLY`; any other step fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import release_check
import scratch_release
from workflow_steps import ROOT, Step, steps

SCRATCH = ROOT / "target" / "dry-run"

# Steps that only the hosted service can run, and why. CONTRIBUTING.md has the summary.
HOSTED_ONLY = {
    "actions/setup steps: Install the toolchain": "rustup installs the toolchain of the runner",
    "audit.yml advisories: make advisories PYTHON=python": "asks the advisory databases, and fails without them",
    "audit.yml actions: make audit-actions PYTHON=python": "asks GitHub whose hash each action has",
    "ci.yml instructions: Install Valgrind": "installs packages of the runner's system",
    "nightly.yml coverage: Install LLVM's tools and genhtml": "installs packages of the runner's system",
    "release.yml github: Make the release": "makes a release on GitHub, with the provenance of the step before",
    "wheels.yml musllinux: make wheel-musl check-dist PYTHON=python": "needs Rust's library for musl, from rustup",
    'wheels.yml musllinux: python scripts/release_check.py files dist --only "musllinux-$MACHINE"': "needs that wheel",
    "wheels.yml musllinux: An example runs on the wheel, on a system with musl": "needs Docker and an image",
    "wheels.yml files: python scripts/release_check.py files dist": "needs the files of all platforms",
    "wheels.yml files: make check-dist PYTHON=python": "needs the files of all platforms",
    "wheels.yml files: python scripts/release_check.py sbom dist sbom": "needs the files of all platforms",
}
PLAIN = {"jq", "sed"}
# Make targets of less than a minute, once their tools are installed. `.ci/interop` is not quick, as it may install
# packages of the system.
QUICK = {"deny", "docs"}


def targets() -> set[str]:
    """The targets of the Makefile, also those that its variables name."""
    listed = subprocess.run(
        ["make", "--question", "--print-data-base", "--no-builtin-rules", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return {name for line in re.findall(r"^\.PHONY: (.*)$", listed.stdout, re.MULTILINE) for name in line.split()}


def commands(step: Step) -> list[list[str]]:
    """The words of each line of the command, with the variables of the step in their place."""
    return [
        [re.sub(r"\$(\w+)", lambda match: step.env.get(match[1], match[0]), word) for word in shlex.split(line)]
        for line in step.command.splitlines()
    ]


def made(words: list[str]) -> list[str]:
    """The targets of a make command."""
    return [word for word in words[1:] if not word.startswith("-") and "=" not in word]


def problem(step: Step, known: set[str]) -> str | None:
    """Why a step that is not in `HOSTED_ONLY` cannot run here, if so."""
    if "${{" in step.command + "".join(step.env.values()).replace("${{ github.ref_name }}", ""):
        return "has an expression that scripts/workflow_steps.py does not know"
    for words in commands(step):
        program = words[0]
        if program == "make":
            if missing := [name for name in made(words) if name not in known]:
                return f"no make target {', '.join(missing)}"
        elif re.fullmatch(r"python3?", program):
            if not (ROOT / words[1]).is_file():
                return f"no script {words[1]}"
        elif program not in PLAIN and not (ROOT / program).is_file():
            return f"{program} is neither make, nor a script of this repository, nor in PLAIN"
    return None


def accounted(found: list[Step]) -> list[str]:
    """Steps that nothing accounts for, and rows of `HOSTED_ONLY` without a step."""
    known, keys = targets(), {step.key for step in found}
    problems = [f"HOSTED_ONLY has a step that no workflow has: {key}" for key in HOSTED_ONLY if key not in keys]
    problems += [
        f"{step.key}: {why}; make it a make target, or add it to HOSTED_ONLY with the reason"
        for step in found
        if step.key not in HOSTED_ONLY and (why := problem(step, known))
    ]
    return list(dict.fromkeys(problems))


def interpreter(version: str) -> str | None:
    """A CPython of this version: on PATH, or one of pyenv, whose shims may name a version that is not chosen."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    own = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    return str(own[-1]) if own else shutil.which(f"python{version}")


def elsewhere(step: Step) -> str | None:
    """Why this combination of a job runs on another machine, if so."""
    arm = step.runner.endswith("-arm")
    if platform.system() != "Linux" or not step.runner.startswith("ubuntu-"):
        return f"runs on {step.runner}"
    if arm != (platform.machine() == "aarch64"):
        return f"runs on {step.runner}"
    if step.python and interpreter(step.python) is None:
        return f"no CPython {step.python} here"
    return None


def is_quick(step: Step) -> bool:
    """Whether a step takes less than a minute."""
    return all(
        set(made(words)) <= QUICK if words[0] == "make" else not words[0].startswith(".ci/") for words in commands(step)
    )


def environment(step: Step, tag: str) -> dict[str, str]:
    """The variables of a step; `python` is the version that the job has set up."""
    folder = SCRATCH / "python" / (step.python or "default")
    folder.mkdir(parents=True, exist_ok=True)
    found = interpreter(step.python) if step.python else sys.executable
    (folder / "python").unlink(missing_ok=True)
    (folder / "python").symlink_to(found or sys.executable)
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "VIRTUAL_ENV"))
    }
    return inherited | {
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "CI": "true",
        "GITHUB_OUTPUT": str(SCRATCH / "output"),
        "PATH": f"{folder}:{os.environ['PATH']}",
        **{key: value.replace("${{ github.ref_name }}", tag) for key, value in step.env.items()},
    }


def run(step: Step, checkout: Path, tag: str) -> int:
    """Run a step as the runner does, and return its exit code."""
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.command]
    return subprocess.run(shell, cwd=checkout, env=environment(step, tag), check=False).returncode


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="run the steps of minutes too")
    parser.add_argument("--only", metavar="TEXT", help="run all steps of the jobs whose name contains the text")
    parser.add_argument("--list", action="store_true", help="run nothing")
    return parser.parse_args()


def left_out(step: Step, given: argparse.Namespace, unfinished: set[tuple[str, str]]) -> str | None:
    """Why a step is not run now, if so; a job of which a step was left out is unfinished."""
    job = (f"{step.file} {step.job}", step.python)
    if step.key in HOSTED_ONLY:
        return f"hosted only: {HOSTED_ONLY[step.key]}"
    if why := elsewhere(step):
        return f"elsewhere: {why}"
    if given.only:
        return None if given.only in f"{step.file} {step.job}" else "left out: --only"
    if not given.all and (job in unfinished or not is_quick(step)):
        unfinished.add(job)
        return "left out: takes minutes, or needs a step that does; --all"
    return None


def prepared() -> tuple[Path, str]:
    """A clone of the last commit, dated and tagged, and the tag."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    checkout = scratch_release.clone(scratch_release.remote(SCRATCH), SCRATCH / "checkout")
    # The cargo tools that `make` installs take minutes to compile.
    (tools := ROOT / "target" / "tools").mkdir(parents=True, exist_ok=True)
    (checkout / "target").mkdir()
    (checkout / "target" / "tools").symlink_to(tools)
    tag = f"v{release_check.cargo_version(checkout)}"
    scratch_release.prepare(checkout)
    scratch_release.tag_and_push(checkout, tag)
    return checkout, tag


def run_all(found: list[Step], given: argparse.Namespace) -> list[tuple[Step, str]]:
    """Run each step that can run, once, and return what became of each."""
    checkout, tag = (ROOT, "") if given.list else prepared()
    rows, unfinished, seen = [], set[tuple[str, str]](), dict[tuple[str, str, str], str]()
    for step in found:
        once = (step.command, str(step.env), step.python)
        outcome = left_out(step, given, unfinished)
        if outcome is None and given.list:
            outcome = "runs here"
        elif outcome is None and once in seen:
            outcome = f"{seen[once]} above"
        elif outcome is None:
            print(f"\n\033[1m==> {step.key}{f', Python {step.python}' * bool(step.python)}\033[0m", flush=True)
            began = time.monotonic()
            seen[once] = "failed" if run(step, checkout, tag) else "passed"
            outcome = f"{seen[once]} in {time.monotonic() - began:.0f} s"
        rows.append((step, outcome))
    return rows


def main() -> int:
    """Run the steps and report each; 1 if one failed or is not accounted for."""
    given, found = parsed(), list(steps())
    problems = accounted(found)
    rows = run_all(found, given)
    print()
    for line in dict.fromkeys(
        f"{step.key}{f' ({step.python})' * bool(step.python)}: {outcome}" for step, outcome in rows
    ):
        print(line)
    counts = Counter(re.split(r": | in | above", outcome)[0] for _, outcome in rows)
    print(f"\n{len(rows)} steps: {', '.join(f'{count} {word}' for word, count in counts.most_common())}")
    for line in problems:
        print(f"dry_run: {line}", file=sys.stderr)
    return 1 if problems or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
