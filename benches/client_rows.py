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
    contenders = {US: service.scan().to_dicts, **{name: connect(service) for name, connect in PYTHON.items()}}
    measures = []
    for name, own_cores, reach in (("one core", cores.CLIENT, 1.35), ("two cores", cores.CORES[:2], 1.6)):
        cores.keep_to(own_cores)
        found = race.run(
            f"{scale.rows:,} rows to dicts on {name}", contenders, expected.check_rows, rounds=scale.rounds
        )
        measures += [*found.times(), found.gain("urllib3+msgspec", reach), found.gain("requests", 2.7)]
    cores.keep_to(cores.CLIENT)
    return measures
