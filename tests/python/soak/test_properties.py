"""Every property of the tests on thousands of examples, and others at each run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_property_holds_on_thousands_of_examples() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "hypothesis", "--timeout", "1800"],
        cwd=ROOT,
        env=os.environ | {"HYPOTHESIS_PROFILE": "soak"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
