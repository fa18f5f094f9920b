"""What our client adds to taking the bytes out of the socket: streamed, into tables, as users scan, in chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import race
from clients import SINCE, Service, drain
from expected import Expected
from prebuilt_server import PrebuiltServer
from race import Contenders
from raw_socket import RawSocket
from records import ATTRIBUTES, DAY
from report import Measure
from scale import Scale

import dataaccess as da

RECV = "recv"


def check_frames(expected: Expected) -> Callable[[Any], None]:
    """Compares what a contender made; who keeps nothing has counted the rows itself."""

    def check(frame: Any) -> None:
        if frame is not None:
            expected.check_frame(frame)

    return check


def with_recv(
    task: str, service: Service, ours: Contenders, check: Callable[[Any], None], rounds: int
) -> list[Measure]:
    """Ours and recv in turns, and how many times as long as recv each takes."""
    found = race.run(task, {RECV: RawSocket(service).receive, **ours}, check, rounds=rounds)
    return [*found.times(), *[found.over(name, RECV) for name in ours]]


def plain(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """A search after a time: no statistics but the rows."""
    service = Service(server.url(str(scale.rows)))
    ours, expected = service.scan(), Expected(service)
    expected.check_frame(pa.Table.from_batches([pa.record_batch(batch) for batch in ours.batches()]))
    contenders = {
        "to nowhere": lambda: drain(ours, scale.rows),
        "to pyarrow": lambda: pa.table(ours.to_arrow()),
        "to pandas": ours.to_pandas,
    }
    task = f"{scale.rows:,} rows over the wire"
    return with_recv(task, service, contenders, check_frames(expected), scale.rounds)


def of_a_day(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """A scan of days as users run it: each row is compared with its day."""
    service = Service(server.url(f"day-{scale.shape_rows}"))
    day_after = DAY[:-1] + str(int(DAY[-1]) + 1)
    ours = service.client().scan_codes(ATTRIBUTES, allocated_time=da.days(DAY, day_after))
    contenders = {"to nowhere": lambda: drain(ours, scale.shape_rows), "to pyarrow": lambda: pa.table(ours.to_arrow())}
    task = f"{scale.shape_rows:,} rows of one day"
    return with_recv(task, service, contenders, check_frames(Expected(service)), scale.rounds)


def in_chunks(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Chunked transfer, beside recv of the same rows unchunked."""
    service = Service(server.url(f"chunked-{scale.shape_rows}"))
    ours, expected = service.client().scan_codes(ATTRIBUTES, allocated_time=SINCE), Expected(service)
    contenders = {"to nowhere": lambda: drain(ours, scale.shape_rows), "to pyarrow": lambda: pa.table(ours.to_arrow())}
    task = f"{scale.shape_rows:,} rows in chunks of 8 KiB"
    unchunked = Service(server.url(str(scale.shape_rows)))
    return with_recv(task, unchunked, contenders, check_frames(expected), scale.rounds)


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """All of them."""
    return plain(server, scale) + of_a_day(server, scale) + in_chunks(server, scale)
