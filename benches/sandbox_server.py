"""The sandbox in a process of its own, so that its memory and CPU time are measured apart from the load's.

As a program it starts the service, loads rows where asked to, says in one line of JSON where it is, and
serves until its input ends. `Server` is the other side: it starts that program and looks at it from outside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import dataaccess as da

FIRST_DAY = "2024-01-"


def code(number: int) -> dict[str, Any]:
    """A promotion code: a third is not allocated to a known audience, a fifth is used."""
    day = f"{FIRST_DAY}{number % 28 + 1:02} {number % 24:02}:{number % 60:02}:{number % 59:02}"
    is_used = number % 5 == 0
    return {
        "id": f"code-{number:08}",
        "name": f"Spring Sale {number}",
        "pool_id": 900 + number % 7,
        "date_created": "2023-12-01 08:00:00",
        "allocated_time": day,
        "allocated_audience": None if number % 3 == 0 else f"customer-{number % 100_000:06}",
        "audience_type": None if number % 3 == 0 else -1003,
        "code_status": 4 if is_used else 3,
        "last_used_source": "web" if is_used else None,
        "last_used_time": day if is_used else None,
    }


def codes(count: int) -> Iterator[dict[str, Any]]:
    """So many promotion codes, in the order of their ids."""
    return (code(number) for number in range(count))


def main(rows: int) -> None:
    """Serves demo data, or so many promotion codes."""
    with da.Sandbox() if rows else da.Sandbox.demo(until="2024-02-29") as sandbox:
        started = time.perf_counter()
        if rows:
            sandbox.load("promotion_code", codes(rows))
        seconds = time.perf_counter() - started
        reported = {"base_url": sandbox.base_url, "token": sandbox.issue_token(["item"]), "load_seconds": seconds}
        print(json.dumps(reported), flush=True)
        sys.stdin.read()


class Server:
    """The service as seen from outside."""

    def __init__(self, rows: int = 0) -> None:
        """Starts it and waits until it serves."""
        self._process = subprocess.Popen(  # noqa: S603 - this very file
            [sys.executable, __file__, str(rows)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the service did not start")
        reported = json.loads(line)
        self.base_url: str = reported["base_url"]
        self.token: str = reported["token"]
        self.load_seconds: float = reported["load_seconds"]

    def memory(self) -> dict[str, float]:
        """Resident memory in MB, now and at its highest; nothing where the system does not report it."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return {}
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return {
            "now": int(fields["VmRSS"].split()[0]) / 1024,
            "highest": int(fields["VmHWM"].split()[0]) / 1024,
        }

    def processor_seconds(self) -> float | None:
        """Its CPU time so far, unaffected by other processes; none where the system does not report it."""
        try:
            reported = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return None
        # The name of the program may hold blanks, and ends with the last bracket.
        user, system = reported.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def forget_highest(self) -> None:
        """Resets the peak memory, where the system supports it."""
        path = Path(f"/proc/{self._process.pid}/clear_refs")
        if path.exists():
            path.write_text("5", encoding="ascii")

    def __enter__(self) -> Self:
        """The service itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self._process.communicate(timeout=30)


if __name__ == "__main__":
    main(int(sys.argv[1]))
