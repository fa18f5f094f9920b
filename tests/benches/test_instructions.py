"""The limit on instructions: what the counters print is read as it is meant, and what got worse fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import counters
import instructions
import pytest

BENCHES = Path(__file__).parents[2] / "benches"

PERF = """\
# started on Sun Nov 22 15:00:00 2026

1500000,,instructions:u,90000000,100.00,,
200000,,instructions:k,90000000,100.00,,
<not supported>,,cycles:u,0,100.00,,
"""

CALLGRIND = """\
version: 1
creator: callgrind-3.19.0
positions: line
events: Ir

ob=(1) /usr/lib/x86_64-linux-gnu/libc.so.6
fl=(1) ???
fn=(1) malloc
0 300
cob=(2) /folder/dataaccess/_native.abi3.so
cfn=(2) inside
calls=7 0
0 5000

ob=(2)
fn=(2)
+3 1000
* 200
ob=(3) /python/lib/libpython3.11.so.1.0
fn=(3) eval
-3 4000
cob=(1)
cfn=(1)
calls=1 0
0 300
-1 1

totals: 5501
"""


def test_what_a_machine_does_not_count_is_left_out() -> None:
    assert counters.read_perf(PERF) == {"user instructions": 1.5e6, "kernel instructions": 2e5}


def test_instructions_of_called_functions_count_once() -> None:
    costs = counters.read_callgrind(CALLGRIND)
    assert [(Path(path).name, cost) for path, cost in costs.items()] == [
        ("libc.so.6", 300),
        ("_native.abi3.so", 1200),
        ("libpython3.11.so.1.0", 4001),
    ]
    assert sum(costs.values()) == 5501
    assert [path for path in costs if counters.is_interpreter(path)] == [list(costs)[2]]


def test_a_unit_costs_the_difference_of_two_runs() -> None:
    work = counters.Work(["start", "2 rows"], ["start", "6 rows"], units=4)
    assert work.per_unit(lambda command: {"words": 10.0 + 3 * int(command[1][0])}) == {"words": 3.0}


def accepted(setting: dict[str, str], **native: float) -> dict[str, Any]:
    figures = {job: {instructions.NATIVE: cost, instructions.USER: 10 * cost} for job, cost in native.items()}
    return {"reason": "a test", "setting": setting, "figures": figures}


@pytest.mark.parametrize(
    ("native", "user", "complaints"),
    [
        (104.9, 1049.0, []),
        (50.0, 500.0, []),
        (106.0, 1000.0, ["stream: 106 native instructions, 6.0 % more than 100"]),
        (100.0, 1060.0, ["stream: 1,060 user instructions, 6.0 % more than 1,000"]),
    ],
)
def test_more_than_five_percent_is_worse(native: float, user: float, complaints: list[str]) -> None:
    found = {"stream": {instructions.NATIVE: native, instructions.USER: user}}
    assert instructions.worse(found, accepted(instructions.setting(), stream=100.0)) == complaints


def test_another_interpreter_is_not_compared() -> None:
    found = {"stream": {instructions.NATIVE: 100.0, instructions.USER: 9000.0}}
    other = {**instructions.setting(), "python": "3.14.0"}
    assert instructions.worse(found, accepted(other, stream=100.0)) == []
    found["stream"][instructions.NATIVE] = 106.0
    assert instructions.worse(found, accepted(other, stream=100.0)) == [
        "stream: 106 native instructions, 6.0 % more than 100"
    ]


def test_another_machine_has_other_instructions() -> None:
    found = {"stream": {instructions.NATIVE: 100.0, instructions.USER: 900.0}}
    other = {**instructions.setting(), "machine": "an abacus"}
    assert instructions.worse(found, accepted(other, stream=100.0)) == [
        f"the figures were accepted on an abacus, and nothing is known of {instructions.setting()['machine']}"
    ]


def test_a_job_without_accepted_figures_fails() -> None:
    found = {"post": {instructions.NATIVE: 1.0, instructions.USER: 1.0}}
    assert instructions.worse(found, accepted(instructions.setting(), stream=100.0)) == [
        "post: no figures were accepted"
    ]


def test_every_limit_has_accepted_figures_and_a_reason() -> None:
    kept = json.loads(instructions.ACCEPTED.read_text(encoding="utf-8"))
    assert kept["reason"]
    assert tuple(kept["figures"]) == instructions.LIMITED


# Callgrind starts the interpreter twice, at a fiftieth of its speed.
@pytest.mark.timeout(300)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind, which counts the instructions")
def test_the_check_fails_when_a_call_got_worse(tmp_path: Path) -> None:
    limit = tmp_path / "instructions.json"
    limit.write_text(json.dumps(accepted(instructions.setting(), post=1000.0)), encoding="utf-8")
    command = [str(BENCHES / "instructions.py"), "--smoke", "--check", "--only", "post", "--accepted", str(limit)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=280, check=False)  # noqa: S603
    assert done.returncode == 1, done.stdout + done.stderr
    assert "post: " in done.stdout
    assert " more than 1,000\n" in done.stdout
    assert "make accept-instructions" in done.stderr
