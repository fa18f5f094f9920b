"""Reads `.github/workflows` and `.github/actions`: jobs, what they need, and each step that runs a command.

Knows the few expressions that steps here use, not the language of GitHub. `dry_run.py` and the tests use it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
SETUP = "$/.github/actions/setup"


@dataclass(frozen=True)
class Step:
    """A step with `run:`, for one combination of its job's matrix."""

    file: str
    job: str
    label: str
    """Its name, or the first line of its command."""
    command: str
    env: dict[str, str]
    runner: str
    python: str
    """The version of `python` after the step that uses the setup action."""

    @property
    def key(self) -> str:
        """What identifies the step in a table, for all combinations."""
        return f"{self.file} {self.job}: {self.label}"


def workflows(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """The parsed workflows by file name."""
    files = sorted((root / ".github" / "workflows").glob("*.yml"))
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}


def actions(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """The parsed composite actions by folder name."""
    files = sorted((root / ".github" / "actions").glob("*/action.yml"))
    return {path.parent.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}


def needs(job: dict[str, Any]) -> list[str]:
    """The jobs that a job names in `needs`."""
    named = job.get("needs", [])
    return [named] if isinstance(named, str) else list(named)


def blocked_by(jobs: dict[str, dict[str, Any]], name: str, results: dict[str, str]) -> list[str]:
    """The jobs whose result keeps `name` from running, as GitHub decides without `if`: each needed job must succeed."""
    if "if" in jobs[name]:
        raise ValueError(f"the job {name} has its own condition")
    return [
        needed
        for needed in needs(jobs[name])
        if results.get(needed, "success") != "success" or blocked_by(jobs, needed, results)
    ]


def combinations(job: dict[str, Any]) -> list[dict[str, str]]:
    """The combinations of a matrix: `include` alone, or lists of values alone."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    if "include" in matrix:
        if len(matrix) > 1:
            raise ValueError("a matrix with lists and `include` is not understood here")
        return [dict(one) for one in matrix["include"]]
    return [dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())]


def steps(root: Path = ROOT) -> Iterator[Step]:
    """Each step with `run:`, in the order of the files; those of composite actions first."""
    setup = actions(root)
    for name, action in setup.items():
        values = {f"inputs.{key}": str(one["default"]) for key, one in action["inputs"].items()}
        for step in action["runs"]["steps"]:
            if "run" in step:
                yield made(f"actions/{name}", "steps", step, values, "ubuntu-24.04", "")
    default = setup["setup"]["inputs"]["python"]["default"]
    for file, workflow in workflows(root).items():
        for job, content in workflow["jobs"].items():
            for combination in combinations(content) if "steps" in content else []:
                yield from steps_of(file, job, content, combination, default)


def steps_of(file: str, job: str, content: dict[str, Any], matrix: dict[str, str], default: str) -> Iterator[Step]:
    """The steps of one job for one combination of its matrix."""
    values = {f"matrix.{key}": str(value) for key, value in matrix.items()}
    values["toJSON(needs)"] = json.dumps({one: {"result": "success"} for one in needs(content)})
    python = ""
    for step in content["steps"]:
        if step.get("uses") == SETUP:
            python = resolved(str(step.get("with", {}).get("python", default)), values).split()[-1]
        if "run" in step:
            yield made(file, job, step, values, resolved(content["runs-on"], values), python)


def made(file: str, job: str, step: dict[str, Any], values: dict[str, str], runner: str, python: str) -> Step:
    """A step with the expressions of its command and its variables replaced."""
    command = step["run"].strip()
    env = {key: resolved(str(value), values) for key, value in step.get("env", {}).items()}
    return Step(file, job, step.get("name", command.splitlines()[0]), resolved(command, values), env, runner, python)


def resolved(text: str, values: dict[str, str]) -> str:
    """The text with the expressions that are among the values replaced; others stay."""
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda match: values.get(match[1], match[0]), text)
