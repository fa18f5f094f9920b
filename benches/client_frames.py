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
from clients import PYTHON, Service, body_with_urllib3, check_verdict
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import US, Contenders, Race
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


def others_to_race(small: Race) -> set[str]:
    """requests, and the quickest others of a race with fewer rows: the large one takes a minute for each."""
    quickest = sorted(small.seconds.keys() - {US}, key=small.median)[:3]
    return {US, "requests", *quickest}


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The race to each kind of frame, with fewer rows and with many."""
    fewer, service = Service(server.url(str(scale.fewer_rows))), Service(server.url(str(scale.rows)))
    found = []
    small = {}
    expected = Expected(fewer)
    for frame in OF_ROWS:
        task = f"{scale.fewer_rows:,} rows to {frame}"
        small[frame] = race.run(task, contenders(frame, fewer), expected.check_frame, rounds=scale.rounds)
        found.append(small[frame])
    expected = Expected(service)
    for frame in OF_ROWS:
        every, chosen = contenders(frame, service), others_to_race(small[frame])
        some = {name: contender for name, contender in every.items() if name in chosen}
        found.append(race.run(f"{scale.rows:,} rows to {frame}", some, expected.check_frame, rounds=scale.slow_rounds))
    measures = [each for run in found for each in run.times()]
    return measures + [gain for run in found for gain in (run.over("requests"), run.best_over_us())]
