"""From a request to a frame of pandas or polars, or a table of pyarrow: ours against what Python has.

The others keep times as strings where ours are timestamps, so the ratios understate the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.json
import race
from clients import PYTHON, Service, body_with_urllib3, check_verdict, drain
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US, Contenders, Race
from raw_socket import RawSocket
from report import Measure
from scale import Scale

OF_ROWS: dict[str, Callable[[Any], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
}


def read_by_polars(body: bytes) -> pl.DataFrame:
    """The records of a response by the reader of polars: no Python object on the way."""
    envelope = pl.read_json(body).unnest("data")
    check_verdict(envelope["code"][0], envelope["status"][0])
    return envelope.select(pl.col("data").explode()).unnest("data")


def read_by_pyarrow(body: bytes) -> pa.Table:
    """The records of a response by the reader of pyarrow, to which the response is one line of JSON."""
    options = pyarrow.json.ReadOptions(block_size=len(body) + 1)
    envelope = pyarrow.json.read_json(pa.BufferReader(body), read_options=options)
    data = envelope["data"].combine_chunks()
    check_verdict(envelope["code"][0].as_py(), data.field("status")[0].as_py())
    return pa.Table.from_struct_array(data.field("data").flatten())


OF_BODY: dict[str, dict[str, Callable[[bytes], Any]]] = {
    "pandas": {"urllib3+pyarrow": lambda body: read_by_pyarrow(body).to_pandas()},
    "polars": {"urllib3+polars": read_by_polars, "urllib3+pyarrow": lambda body: pl.from_arrow(read_by_pyarrow(body))},
    "pyarrow": {"urllib3+pyarrow": read_by_pyarrow},
}


def contenders(frame: str, service: Service) -> Contenders:
    """All ways to such a frame, ours among them."""
    scan = service.scan()
    ours: dict[str, Callable[[], Any]] = {"pandas": scan.to_pandas, "polars": scan.to_polars, "pyarrow": scan.to_arrow}
    found = {US: ours[frame]}
    for name, connect in PYTHON.items():
        found[name] = chain(connect(service), OF_ROWS[frame])
    for name, read in OF_BODY[frame].items():
        found[name] = chain(body_with_urllib3(service), read)
    return found


def chain(give: Callable[[], Any], make: Callable[[Any], Any]) -> Callable[[], Any]:
    """One after the other, as one."""
    return lambda: make(give())


def over_the_wire(service: Service, rows: int, expected: Expected, rounds: int) -> list[Measure]:
    """What ours adds to taking the bytes out of the socket."""
    ours = service.scan()

    def check(frame: pd.DataFrame | None) -> None:
        # The others keep nothing; that they took all of it they have seen to.
        if frame is not None:
            expected.check_frame(frame)

    expected.check_frame(pa.Table.from_batches([pa.record_batch(batch) for batch in ours.batches()]))
    raw = RawSocket(service)
    found = race.run(
        f"{rows:,} rows over the wire",
        {"recv": raw.receive, "to nowhere": lambda: drain(ours, rows), "to pandas": ours.to_pandas},
        check,
        rounds=rounds,
    )
    return [*found.times(), found.cost("to nowhere", "recv", 1.4), found.cost("to pandas", "recv", 1.8)]


def secured_and_compressed(service: Service, rows: int, expected: Expected, rounds: int) -> list[Measure]:
    """The race to pandas over TLS with gzip."""
    every = contenders("pandas", service)
    some = {name: every[name] for name in (US, "requests", "urllib3+msgspec")}
    found = race.run(f"{rows:,} rows to pandas by TLS and gzip", some, expected.check_frame, rounds=rounds)
    return [*found.times(), found.gain("requests", 6)]


def to_frames(service: Service, rows: int, expected: Expected, rounds: int) -> dict[str, Race]:
    """The race to each kind of frame."""
    return {
        frame: race.run(f"{rows:,} rows to {frame}", contenders(frame, service), expected.check_frame, rounds=rounds)
        for frame in OF_ROWS
    }


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """All races to frames. What is hoped for is hoped of the large response."""
    fewer = Service(server.url(str(scale.fewer_rows)))
    small = to_frames(fewer, scale.fewer_rows, Expected(fewer), scale.rounds)
    service = Service(server.url(str(scale.rows)))
    expected = Expected(service)
    large = to_frames(service, scale.rows, expected, scale.rounds)
    measures = [each for found in (*small.values(), *large.values()) for each in found.times()]
    measures += [gain for found in small.values() for gain in (found.gain("requests"), found.gain(found.best_other()))]
    measures += [large["pandas"].gain("requests", 20), large["pandas"].gain("urllib3+msgspec", 15)]
    measures += [
        large[frame].gain(large[frame].best_other(), reach) for frame, reach in (("polars", 12), ("pyarrow", 18))
    ]
    measures += over_the_wire(service, scale.rows, expected, scale.rounds)
    secured = Service(server.url(f"gzip-{scale.rows}", secured=True), server.ca_bundle)
    return measures + secured_and_compressed(secured, scale.rows, expected, scale.rounds)
