"""A client that openapi-python-client makes from `docs/openapi.json` finds in a sandbox what plain HTTP finds.

What is generated goes into `target/openapi`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DESCRIPTION = ROOT / "docs" / "openapi.json"
TARGET = ROOT / "target" / "openapi"
MILLISECONDS_PER_DAY = 86_400_000

DENIED = "You don't have permission to access this request!"


@dataclass(frozen=True)
class Served:
    """A sandbox in a process of its own."""

    base_url: str
    token: str

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.base_url + path, json.dumps(body).encode(), headers)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
            return dict(json.load(response)["data"])

    def search_codes(self, attrs: list[str], *conditions: dict[str, Any]) -> list[dict[str, Any]]:
        body = {
            "itemTypeId": -100,
            "itemTypeName": "promotion_code",
            "attrs": attrs,
            "filters": {"OR": [{"AND": [{"type": 2, **condition} for condition in conditions]}]},
        }
        return list(self.post("/access/api/item/search", body)["data"])


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    command = [sys.executable, "-m", "dataaccess", "sandbox", "--json", "--demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout
            printed = json.loads(process.stdout.readline())
            yield Served(printed["base_url"], printed["token"])
        finally:
            process.terminate()


def allocated(operator: str, milliseconds: int) -> dict[str, Any]:
    return {
        "column": "allocated_time",
        "data_type": "datetime",
        "operator": operator,
        "value": milliseconds,
        "time_unit": "DAY",
    }


@dataclass(frozen=True)
class Wanted:
    """A customer and a day with a used code, whatever days the demo data has, and what is found for them."""

    audience: str
    day: int
    codes: list[list[Any]]


@pytest.fixture(scope="module")
def wanted(served: Served) -> Wanted:
    used = {"column": "code_status", "data_type": "number", "operator": "matches", "value": [4]}
    code, *_ = served.search_codes(["id", "allocated_time", "allocated_audience"], used, allocated("after_date", 0))
    audience = {
        "column": "allocated_audience",
        "data_type": "string",
        "operator": "matches",
        "value": [code["allocated_audience"]],
    }
    text = code["allocated_time"].replace(" ", "T") + "+00:00"
    day = int(datetime.fromisoformat(text).timestamp() * 1000) // MILLISECONDS_PER_DAY * MILLISECONDS_PER_DAY
    attrs = ["id", "code_status", "last_used_time"]
    codes = served.search_codes(attrs, audience, allocated("equals", day))
    assert code["id"] in [each["id"] for each in codes]
    return Wanted(code["allocated_audience"], day, [[each[name] for name in attrs] for each in codes])


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    done = subprocess.run(command, cwd=cwd, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def python_client(**variables: str) -> str:
    """What the generated client prints."""
    built = TARGET
    built.mkdir(parents=True, exist_ok=True)
    generate: list[str | Path] = [
        "generate",
        "--path",
        DESCRIPTION,
        "--config",
        HERE / "python" / "config.yml",
        "--meta",
        "none",
    ]
    generator = Path(sys.executable).with_name("openapi-python-client")
    run(generator, *generate, "--overwrite", "--fail-on-warning", "--output-path", built / "generated", cwd=built)
    program = HERE / "python" / "search.py"
    run(sys.executable, "-m", "mypy", "--config-file=", "--strict", program, cwd=built, MYPYPATH=str(built))
    return run(sys.executable, program, cwd=built, PYTHONPATH=str(built), **variables)


@pytest.mark.timeout(180)
def test_a_generated_client_searches_and_downloads(served: Served, wanted: Wanted) -> None:
    found = python_client(BASE_URL=served.base_url, TOKEN=served.token, AUDIENCE=wanted.audience, DAY=str(wanted.day))
    assert json.loads(found) == {
        "codes": wanted.codes,
        "customers": [
            ["demo-customer-0001", "6775dc7701564f619afcd44d14cf8bfe"],
            ["demo-customer-0002", "56e84498e8b0e635701560ad31bb9977"],
        ],
        "entries": [[2000, 200]],
        "total": 1,
        "refused": [403, 301, DENIED],
    }
