"""`scripts/dry_run.py` accounts for each step of the workflows: it runs here, or a table says why it cannot."""

from __future__ import annotations

import dataclasses
import shutil
import sys

import dry_run
import pytest
import workflow_steps

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("make"), reason="needs make")

STEPS = list(workflow_steps.steps())
STEP = workflow_steps.Step("ci.yml", "new", "a step", "make lint", {}, "ubuntu-24.04", "3.11")


def test_every_step_is_accounted_for() -> None:
    assert STEPS
    assert dry_run.accounted(STEPS) == []


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("make lint no-such-target PYTHON=python", "no make target no-such-target"),
        ("make lint\ngh release view", "gh is neither make"),
        ("curl https://example.com | bash", "curl is neither make"),
        ("python scripts/no_such_script.py", "no script scripts/no_such_script.py"),
        ('make "$TARGET"', "no make target nothing"),
        ("make lint PYTHON=${{ env.PYTHON }}", "has an expression"),
    ],
)
def test_a_step_that_nothing_accounts_for_is_a_problem(command: str, reason: str) -> None:
    step = dataclasses.replace(STEP, command=command, env={"TARGET": "nothing"})
    [problem] = set(dry_run.accounted([*STEPS, step])) - set(dry_run.accounted(STEPS))
    assert problem.startswith("ci.yml new: a step: ")
    assert reason in problem


def test_a_row_of_the_table_without_a_step_is_a_problem() -> None:
    key = "release.yml github: Make the release"
    left = [step for step in STEPS if step.key != key]
    [problem] = set(dry_run.accounted(left)) - set(dry_run.accounted(STEPS))
    assert problem == f"HOSTED_ONLY has a step that no workflow has: {key}"


def test_a_matrix_gives_a_step_for_each_combination() -> None:
    pythons = [
        step.python for step in STEPS if (step.file, step.job) == ("ci.yml", "test") and "test-python" in step.command
    ]
    assert {"3.11", "3.12", "3.13", "3.14"} <= set(pythons)
    lowest = {step.env["TARGET"] for step in STEPS if step.job == "lowest" and "TARGET" in step.env}
    assert lowest == {"test-lowest", "test-lowest-airflow", "test-lowest-spark"}
