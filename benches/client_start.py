"""What a new process pays: for `import dataaccess`, and until it has its first record. Nothing stays behind of either.

Whole processes are timed, and the time of one that does nothing is taken off.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import race
from clients import Service
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US, Race
from report import Measure
from scale import Scale

NOTHING = "nothing"
PACKAGES = [US, "requests", "httpx", "aiohttp", "pyreqwest.client"]
FIRST_RECORD = {
    US: """
import json, dataaccess as da
client = da.Client({base_url!r}, token="t")
print(json.dumps(client.search_codes(allocated_time=da.after("2020-01-01")), sort_keys=True), end="")
""",
    "pyreqwest": """
import json
from pyreqwest.client import SyncClientBuilder
answer = SyncClientBuilder().build().post({base_url!r} + "/access/api/item/search").body_bytes(b"{{}}").build().send()
print(json.dumps(answer.json()["data"]["data"], sort_keys=True), end="")
""",
    "requests": """
import json, requests
answer = requests.post({base_url!r} + "/access/api/item/search", data=b"{{}}")
print(json.dumps(answer.json()["data"]["data"], sort_keys=True), end="")
""",
}
LEFT_BY_IMPORT = """
import json, pathlib, dataaccess
threads = list(pathlib.Path("/proc/self/task").iterdir())
files = [file for file in pathlib.Path("/proc/self/fd").iterdir() if int(file.name) > 2 and file.is_symlink()]
print(json.dumps([len(threads) - 1, sum(str(file.readlink()).startswith("socket:") for file in files)]))
"""


def run(program: str) -> str:
    """Runs a program in a process of its own; what it prints."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=60)  # noqa: S603
    return done.stdout.decode()


def process(program: str, printed: str = "") -> Callable[[], None]:
    """A process with that program, which must print just that."""

    def start() -> None:
        found = run(program)
        if found != printed:
            raise SystemExit(f"a process printed {found!r}, not {printed!r}")

    return start


def beyond_nothing(found: Race) -> list[Measure]:
    """The time of each process beyond that of one that does nothing."""
    return [
        Measure(f"{found.task}: {name}", (found.median(name) - found.median(NOTHING)) * 1000, "ms")
        for name in found.seconds
        if name != NOTHING
    ]


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The races of processes, and the memory of an import where the system reports it."""
    service = Service(server.url("1"))
    printed = json.dumps(Expected(service).rows, sort_keys=True)
    nothing = {NOTHING: process("pass")}
    imports = nothing | {name: process(f"import {name}") for name in PACKAGES}
    found = race.run("import in a new process", imports, rounds=scale.starts)
    measures = beyond_nothing(found)
    records = {name: process(text.format(base_url=service.base_url), printed) for name, text in FIRST_RECORD.items()}
    found = race.run("first record of a new process", nothing | records, rounds=scale.starts)
    measures += beyond_nothing(found)
    if sys.platform == "linux":
        for name, count in zip(("threads", "sockets"), json.loads(run(LEFT_BY_IMPORT)), strict=True):
            measures.append(Measure(f"import in a new process: {name} left", count, ""))
    return measures
