"""From a request to a list of dicts: ours against what Python has, on one core and on two.

As a program it is the race on some cores (`0,1`): our client decides at its first scan how many threads it has.

    python benches/client_rows.py TASK BASE_URL ROUNDS CORES
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import cores
import race
from clients import PYTHON, Ask, Service
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US, Race
from report import Measure
from scale import Scale

import dataaccess as da

ON_TWO = (US, "requests", "urllib3+msgspec")


def contenders(service: Service) -> dict[str, Ask]:
    """All that make rows."""
    return {US: service.scan().to_dicts, **{name: connect(service) for name, connect in PYTHON.items()}}


def race_on(task: str, base_url: str, rounds: str, on: str) -> None:
    """Prints the seconds that each took."""
    # The response has a round number of rows indeed.
    warnings.simplefilter("ignore", da.IncompleteWarning)
    cores.keep_to([int(core) for core in on.split(",") if core])
    service = Service(base_url)
    every = contenders(service)
    found = race.run(task, {name: every[name] for name in ON_TWO}, Expected(service).check_rows, rounds=int(rounds))
    print(json.dumps(found.seconds))


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The races to rows."""
    service, rounds = Service(server.url(str(scale.rows))), scale.slow_rounds
    task = f"{scale.rows:,} rows to dicts on one core"
    on_one = race.run(task, contenders(service), Expected(service).check_rows, rounds=rounds)
    task = f"{scale.rows:,} rows to dicts on two cores"
    # Where the machine has only two cores, the second is also the server's.
    two = ",".join(map(str, cores.CORES[:2]))
    command = [sys.executable, __file__, task, service.base_url, str(rounds), two]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=600)  # noqa: S603 - our own program
    on_two = Race(task, json.loads(done.stdout))
    gains = [found.over(name) for found in (on_one, on_two) for name in ("urllib3+msgspec", "requests")]
    return [*on_one.times(), *on_two.times(), *gains]


if __name__ == "__main__":
    race_on(*sys.argv[1:])
