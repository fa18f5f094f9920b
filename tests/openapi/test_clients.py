"""A client that openapi-python-client makes from `docs/openapi.json` finds in a sandbox what `dataaccess` finds.

What is generated goes into `target/openapi`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dataaccess as da

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target" / "openapi"
CUSTOMERS = ["demo-customer-0001", "demo-customer-0002"]
DENIED = "You don't have permission to access this request!"


def run(*command: str | Path, **variables: str) -> str:
    own = os.environ | variables
    done = subprocess.run(command, cwd=TARGET, env=own, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def program() -> Path:
    """The program that uses the client, which was generated and passes a strict type checker."""
    TARGET.mkdir(parents=True, exist_ok=True)
    generator, config = Path(sys.executable).with_name("openapi-python-client"), HERE / "python" / "config.yml"
    description: list[str | Path] = ["--path", ROOT / "docs" / "openapi.json", "--config", config, "--meta", "none"]
    run(generator, "generate", *description, "--overwrite", "--fail-on-warning", "--output-path", TARGET / "generated")
    program = HERE / "python" / "search.py"
    run(sys.executable, "-m", "mypy", "--config-file=", "--strict", program, MYPYPATH=str(TARGET))
    return program


@pytest.mark.timeout(180)
def test_a_generated_client_searches_and_downloads(program: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client, day, attrs = sandbox.client(), da.on("2024-01-15"), ["id", "code_status", "last_used_time"]
        holders = ["audience_type", "allocated_audience"]
        [holder] = client.search_codes(holders, allocated_time=day, code_status="used", limit=1)
        codes = client.search_codes(attrs, allocated_time=day, **holder)
        customers = client.search_items("customer", ["customer_id", "name"], da.col("customer_id").matches(CUSTOMERS))
        variables = {"BASE_URL": sandbox.base_url, "TOKEN": sandbox.issue_token(), "PYTHONPATH": str(TARGET)}
        found = run(sys.executable, program, **variables, AUDIENCE=holder["allocated_audience"], DAY="1705276800000")
    assert json.loads(found) == {
        "codes": [[code[name] for name in attrs] for code in codes],
        "customers": [[customer["customer_id"], customer["name"]] for customer in customers],
        "entries": [[2000, 200]],
        "total": 1,
        "refused": [403, 301, DENIED],
    }
    assert codes
    assert len(customers) == 2
