"""From a request to a list of dicts: ours against what Python has, on one core and on two."""

from __future__ import annotations

import cores
import race
from clients import PYTHON, Service
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US
from report import Measure
from scale import Scale


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The race to rows; where the machine has only two cores, the second is also the server's."""
    service = Service(server.url(str(scale.rows)))
    expected = Expected(service)
    every = {US: service.scan().to_dicts, **{name: connect(service) for name, connect in PYTHON.items()}}
    some = {name: every[name] for name in (US, "requests", "urllib3+msgspec")}
    on_one = race.run(f"{scale.rows:,} rows to dicts on one core", every, expected.check_rows, rounds=scale.slow_rounds)
    cores.keep_to(cores.CORES[:2])
    on_two = race.run(f"{scale.rows:,} rows to dicts on two cores", some, expected.check_rows, rounds=scale.slow_rounds)
    cores.keep_to(cores.CLIENT)
    gains = [found.over(name) for found in (on_one, on_two) for name in ("urllib3+msgspec", "requests")]
    return [*on_one.times(), *on_two.times(), *gains]
