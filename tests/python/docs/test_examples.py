"""Files in `examples`, and lines of pages that need a server, run as they are shown."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from support.pages import ROOT, blocks
from support.raw_server import always, http, serving

import dataaccess as da

EXAMPLES = ROOT / "examples"
# The nightly job needs arguments and prints nothing: `process/test_nightly.py` runs it.
PRINT = [path for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "nightly"]


@pytest.mark.parametrize("recipe", sorted(EXAMPLES.glob("recipes/*.py")), ids=lambda path: path.stem)
def test_a_recipe_is_on_a_page(recipe: Path) -> None:
    shown = [block.parsed for _, block in blocks()]
    assert recipe.read_text(encoding="utf-8") in [f"{text.strip()}\n" for text in shown]


@pytest.mark.slow
@pytest.mark.parametrize("example", PRINT, ids=lambda path: path.stem)
def test_example_runs_and_prints(example: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert "Traceback" not in run.stderr


# The curl lines of the recipe on control run as they are shown.


PAGE = ROOT / "docs" / "recipes.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_lines_run(tmp_path: Path) -> None:
    (script,) = re.findall(r"^(CONTROL=.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    calls = [line for line in script.splitlines() if line.startswith("call ")]
    with da.Sandbox.demo() as sandbox:
        environment = {
            **os.environ,
            "DATAACCESS_BASE_URL": sandbox.base_url,
            "DATAACCESS_SANDBOX_ADMIN_TOKEN": sandbox.admin_token,
            "NO_PROXY": "*",
        }
        # Each answer on a line of its own.
        lines = script.replace("\ncall ", "\necho; call ")
        done = subprocess.run(
            ["/bin/sh", "-eu", "-c", lines], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert sandbox.requests == []
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert len(answers) == len(calls)
    by_line = dict(zip(calls, answers, strict=True))
    (found,) = (answer for line, answer in by_line.items() if "contains=" in line)
    assert found == {"rows": [{"store_id": "s-2", "area": None}], "total": 1}
    (exports,) = (answer for line, answer in by_line.items() if line.endswith('/exports"'))
    planned = next(each for each in exports if each["export_id"] == 17)
    assert [entry["status"] for entry in planned["entries"]] == ["succeeded", "failed"]


# The OAuth callable of docs/configuration.md gets tokens from a token endpoint over HTTP, and keeps them.


BLOCK = next(
    block for name, block in blocks() if name.startswith("docs/configuration.md") and "TOKEN_URL" in block.parsed
)


def test_the_callable_gets_a_token_at_the_first_request_only(
    dataaccess_sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = {"access_token": dataaccess_sandbox.issue_token(["item", "download"]), "expires_in": 600}
    # `urlopen` reads to the end of the connection.
    with serving(always(http(issued, headers=("Connection: close",)))) as endpoint:
        for name, value in {"CLIENT_ID": "etl", "CLIENT_SECRET": "secret", "TOKEN_URL": endpoint.base_url}.items():
            monkeypatch.setenv(name, value)
        BLOCK.namespace.clear()
        BLOCK.evaluate()
        client = da.Client(dataaccess_sandbox.base_url, token=BLOCK.namespace["oauth_token"])
        assert endpoint.requests == []
        for _ in range(3):
            assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        (request,) = endpoint.requests
    wanted = {"grant_type": ["client_credentials"], "client_id": ["etl"], "client_secret": ["secret"]}
    assert parse_qs(request.body.decode()) == wanted | {"scope": ["item download"]}
