"""The files of `examples/docker`: what they run is accepted by the command and works.

They are built where a Docker daemon is; elsewhere these checks read them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from support.commands import serving

import dataaccess as da

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
OWN = "a-token-of-thirty-two-characters-1"
ADMIN = "an-admin-token-of-thirty-two-characters"


LINES = re.sub(r"\\\n", " ", (FOLDER / "Dockerfile").read_text(encoding="utf-8"))
DOCKERFILE = dict(re.findall(r"^([A-Z]+) +(.+)$", LINES, re.MULTILINE))


def paths_of_this_machine(words: list[str], folder: Path) -> list[str]:
    """The words with the files of the container as files of this machine."""
    (folder / "sandbox_token").write_text(OWN, encoding="utf-8")
    (folder / "sandbox_admin_token").write_text(ADMIN, encoding="utf-8")
    for path in folder.iterdir():
        path.chmod(0o600)
    scenario = str(FOLDER / "scenario")
    return [word.replace("/run/secrets", str(folder)).replace("=/scenario/", f"={scenario}/") for word in words]


def test_the_health_check_sees_whether_it_runs() -> None:
    python, flag, code = json.loads(DOCKERFILE["HEALTHCHECK"].partition("CMD ")[2])
    assert (python, flag) == ("python", "-c")
    with da.Sandbox() as sandbox:
        port = f":{DOCKERFILE['EXPOSE']}"
        assert port in code
        code = code.replace(port, f":{sandbox.base_url.rpartition(':')[2]}")
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode != 0


def test_the_composed_services_get_their_tokens_as_secrets() -> None:
    services, secrets = COMPOSE["services"], COMPOSE["secrets"]
    assert set(COMPOSE) == {"services", "secrets"}
    for service in services.values():
        assert set(service["secrets"]) <= set(secrets)
        assert all(not value.startswith("sbx_") for value in service.get("environment", {}).values())
    assert all(set(secret) == {"environment"} for secret in secrets.values())
    assert all(port.startswith("127.0.0.1:") for port in services["sandbox"]["ports"])


def test_the_composed_sandbox_and_its_job_run_here(tmp_path: Path) -> None:
    """In processes in place of containers, on loopback: with the same words, but host and port."""
    words = json.loads(DOCKERFILE["ENTRYPOINT"])[2:] + COMPOSE["services"]["sandbox"]["command"]
    words = paths_of_this_machine(words, tmp_path)
    words[words.index("--host") + 1], words[words.index("--port") + 1] = "127.0.0.1", "0"
    with serving(*words) as served:
        base_url = served.exports["DATAACCESS_BASE_URL"]
        client = da.Client(base_url, token=OWN)
        job = COMPOSE["services"]["job"]
        done = subprocess.run(
            [sys.executable, "-m", *job["entrypoint"], *job["command"]],
            env={"DATAACCESS_BASE_URL": base_url, "DATAACCESS_TOKEN_FILE": str(tmp_path / "sandbox_token")},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert len(done.stdout.splitlines()) == 73
        stores = client.search_items("store", ["area"], da.col("store_id").matches(["s-1", "s-2"]), item_type_id=7)
        assert stores == [{"area": 250}, {"area": None}]
        assert len(client.download_segment(7001)["entries"]) == 2
        _, reported = served.stop()
    assert [line.count(" 503 ") for line in reported.splitlines() if "promotion_code" in line] == [1, 1, 0]
    assert OWN not in reported
    assert ADMIN not in reported
