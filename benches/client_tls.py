"""From a request to a DataFrame of pandas over TLS, with gzip and without."""

from __future__ import annotations

import race
from client_frames import contenders
from clients import Service
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US
from report import Measure
from scale import Scale

FORMS = {"gzip-": "TLS and gzip", "": "TLS"}


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Both races."""
    measures = []
    for form, name in FORMS.items():
        service = Service(server.url(f"{form}{scale.rows}", secured=True), server.ca_bundle)
        every = contenders("pandas", service)
        some = {each: every[each] for each in (US, "requests", "urllib3+msgspec")}
        check = Expected(service).check_frame
        found = race.run(f"{scale.rows:,} rows to pandas by {name}", some, check, rounds=scale.slow_rounds)
        measures += [*found.times(), found.over("requests"), found.over("urllib3+msgspec")]
    return measures
