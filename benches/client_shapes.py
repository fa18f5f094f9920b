"""The same records written differently: streamed beside recv, and as dicts beside urllib3+msgspec."""

from __future__ import annotations

import race
from client_wire import with_recv
from clients import Service, drain, with_urllib3_msgspec
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US
from report import Measure
from scale import Scale

SHAPES = ("escapes", "spaces", "shuffled", "omitted", "extras")


def of_shape(shape: str, server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Both races of one shape."""
    service = Service(server.url(f"{shape}-{scale.shape_rows}"))
    scan, expected = service.scan(), Expected(service)
    task = f"{scale.shape_rows:,} rows with {shape}"

    def check_nothing(_: None) -> None:
        """Batches count their rows themselves."""

    streamed = with_recv(
        task, service, {"to nowhere": lambda: drain(scan, scale.shape_rows)}, check_nothing, scale.rounds
    )
    to_dicts = {US: scan.to_dicts, "urllib3+msgspec": with_urllib3_msgspec(service)}
    found = race.run(f"{task} to dicts", to_dicts, expected.check_requested, rounds=scale.rounds)
    return [*streamed, *found.times(), found.over("urllib3+msgspec")]


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """All shapes, one after the other."""
    return [measure for shape in SHAPES for measure in of_shape(shape, server, scale)]
