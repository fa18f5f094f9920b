"""The rules of the workflows that zizmor does not know; CONTRIBUTING.md says what only the hosted service can prove."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import release_check
from workflow_steps import ROOT, SETUP, actions, blocked_by, needs, steps, workflows

WORKFLOWS = workflows()
FILES = [*(ROOT / ".github" / "workflows").glob("*.yml"), *(ROOT / ".github" / "actions").glob("*/action.yml")]


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file, workflow in WORKFLOWS.items():
        for name, job in workflow["jobs"].items():
            yield file, name, job


def uses(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    """The steps of a job that use an action, whatever its version."""
    return [step for step in job.get("steps", []) if step.get("uses", "").partition("@")[0] == action]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_action_has_a_full_hash_and_its_version(path: Any) -> None:
    for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
        assert line.startswith("$/.github/") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_one_action_has_one_hash() -> None:
    hashes: dict[str, set[str]] = {}
    for path in FILES:
        for name, pinned in re.findall(r"uses: ([\w./-]+)@(.*)", path.read_text(encoding="utf-8")):
            hashes.setdefault(name, set()).add(pinned)
    assert [name for name, pinned in hashes.items() if len(pinned) > 1] == []


@pytest.mark.parametrize("file", WORKFLOWS)
def test_permissions_are_empty_but_for_what_a_job_needs(file: str) -> None:
    assert WORKFLOWS[file]["permissions"] == {}
    writing = {
        (name, permission)
        for name, job in WORKFLOWS[file]["jobs"].items()
        for permission, level in job["permissions"].items()
        if level != "read"
    }
    assert writing == {
        "docs.yml": {("deploy", "id-token"), ("deploy", "pages")},
        "release.yml": {
            ("publish", "id-token"),
            ("github", "attestations"),
            ("github", "contents"),
            ("github", "id-token"),
        },
    }.get(file, set())


def test_each_job_ends_and_runs_on_a_named_image() -> None:
    for file, name, job in jobs():
        if "uses" in job:
            continue
        assert isinstance(job["timeout-minutes"], int), f"{file} {name}"
        runners = [job["runs-on"]]
        if "matrix" in job["runs-on"]:
            key = job["runs-on"].removeprefix("${{ matrix.").removesuffix(" }}")
            runners = [one[key] for one in job["strategy"]["matrix"]["include"]]
        for runner in runners:
            assert re.fullmatch(r"(ubuntu|macos|windows)-[\d.]+(-arm|-intel)?", runner), f"{file} {name}: {runner}"


def test_nothing_hides_a_failure() -> None:
    for file, name, job in jobs():
        # These keep what made the job fail.
        keep = ("actions/upload-artifact@", "actions/cache/save@")
        others = [step for step in job.get("steps", []) if not step.get("uses", "").startswith(keep)]
        text = json.dumps(job | {"steps": others})
        assert "continue-on-error" not in text, f"{file} {name}"
        for word in ("always()", "failure()", "cancelled()"):
            assert word not in text or (file, name) == ("ci.yml", "check"), f"{file} {name}: {word}"
        for step in job.get("steps", []):
            assert not ("run" in step and "if" in step), f"{file} {name}: a command with a condition"


def test_each_job_that_compiles_has_the_pinned_toolchain() -> None:
    assert re.fullmatch(r"1\.\d+\.\d+", actions()["setup"]["inputs"]["rust"]["default"])
    for file, name, job in jobs():
        commands = " ".join(step.get("run", "") for step in job.get("steps", []))
        if re.search(r"\b(make|cargo|maturin)\b", commands):
            assert uses(job, SETUP), f"{file} {name}"


def test_a_job_that_makes_what_is_published_has_no_cache() -> None:
    for file in ("docs.yml", "release.yml", "wheels.yml"):
        for name, job in WORKFLOWS[file]["jobs"].items():
            for step in uses(job, SETUP):
                assert step["with"]["cache"] == "false", f"{file} {name}"


def test_no_checkout_leaves_credentials() -> None:
    for file, name, job in jobs():
        for step in uses(job, "actions/checkout"):
            assert step["with"]["persist-credentials"] is False, f"{file} {name}"


def test_the_required_job_waits_for_all_others() -> None:
    others = set(WORKFLOWS["ci.yml"]["jobs"]) - {"check"}
    assert set(needs(WORKFLOWS["ci.yml"]["jobs"]["check"])) == others


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("jq"), reason="needs jq")
@pytest.mark.parametrize("result", ["success", "failure", "cancelled", "skipped"])
def test_the_required_job_accepts_success_alone(result: str) -> None:
    [command] = [step.command for step in steps() if (step.file, step.job) == ("ci.yml", "check")]
    results = {"lint": {"result": "success"}, "test": {"result": result}}
    ended = subprocess.run(  # noqa: S603
        ["bash", "-c", command],  # noqa: S607
        env={"NEEDS": json.dumps(results), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode == 0) == (result == "success")


@pytest.mark.parametrize("job", ["publish", "github"])
@pytest.mark.parametrize("failed", ["plan", "ci", "wheels"])
def test_nothing_is_published_unless_the_plan_ci_and_all_wheels_succeeded(job: str, failed: str) -> None:
    release = WORKFLOWS["release.yml"]["jobs"]
    assert failed in needs(release[job])
    for result in ("failure", "cancelled", "skipped"):
        assert failed in blocked_by(release, job, {failed: result})
    assert release["ci"]["uses"] == "$/.github/workflows/ci.yml"
    assert release["wheels"]["uses"] == "$/.github/workflows/wheels.yml"


def test_publishing_needs_an_approval_and_no_stored_token_and_runs_no_code_of_the_checkout() -> None:
    publish = WORKFLOWS["release.yml"]["jobs"]["publish"]
    assert publish["environment"] == "release"
    assert not uses(publish, "actions/checkout")
    assert not [step for step in publish["steps"] if "run" in step]
    for path in FILES:
        assert "secrets." not in path.read_text(encoding="utf-8"), path


def test_each_wheel_of_a_release_is_built_checked_and_tested() -> None:
    wheels = WORKFLOWS["wheels.yml"]["jobs"]
    made = {job for job in wheels if job != "files"}
    assert set(needs(wheels["files"])) == made
    commands = [step for step in steps() if step.file == "wheels.yml" and step.job in made]
    checked = {re.sub(r"\$(\w+)", lambda match: step.env[match[1]], step.command) for step in commands}  # noqa: B023
    kinds = {match[1] for line in checked if (match := re.search(r'--only "?([\w-]+)"?$', line))}
    assert kinds == set(release_check.KINDS)
    for job in made:
        words = " ".join(step.command for step in commands if step.job == job)
        assert "check-dist" in words
        assert re.search(r"test-wheel|test-sdist|tests/musl", words), job


def test_every_build_uses_the_lock_file() -> None:
    texts = [ROOT / "Makefile", *FILES, *(ROOT / "scripts").glob("*.sh")]
    for path in texts:
        for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
            if re.search(r"\bcargo (bench|build|check|clippy|fetch|install|run|rustc|test)\b", line):
                assert "--locked" in line, f"{path.name}: {line.strip()}"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]["locked"] is True


def test_the_image_of_the_musl_test_has_a_digest() -> None:
    lines = (ROOT / "tests" / "musl" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    images = [line.removeprefix("FROM ") for line in lines if line.startswith("FROM ")]
    assert images
    for image in images:
        assert re.fullmatch(r"[\w/.-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)
