"""The tasks of a scan as Spark pickles them: the request in its partition, what all share in the reader.

An executor makes the tasks again, with one client for each of its processes: its connections and its token serve one
task after the other. The response of a task comes as batches of Spark. Nothing here needs Spark.
"""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dataaccess._scan.batches import Batch
from dataaccess._scan.scan import Task
from dataaccess._scan.table import Table

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    import pyarrow as pa

    from dataaccess import Client
    from dataaccess.spark._columns import Columns

    # The id and the body of a request that the driver has checked.
    Planned: TypeAlias = tuple[str, dict[str, Any]]

# Clients of one process, of the queries that run at the same time.
_CLIENTS = 4
_ROWS = 8_192


class Shared(NamedTuple):
    """What the tasks of a scan share: the pickled client, which has no token, and how the scan was made."""

    client: bytes
    call: str
    schema: dict[str, Any] | None
    splits: bool

    def task(self, planned: Planned) -> Task:
        """The task, with the client of this process."""
        name, body = planned
        return Task._from_body(_client(self.client), self.call, body, self.schema, name, self.splits)


@lru_cache(_CLIENTS)
def _client(pickled: bytes) -> Client:
    """The client of this process with these settings. One that is not used any more closes with its last task."""
    client: Client = pickle.loads(pickled)  # noqa: S301 - of our own driver
    return client


def batches(task: Task, columns: Columns) -> Generator[pa.RecordBatch, None, dict[str, Any]]:
    """The rows of a response, batch by batch; returns its figures and warnings. One that may be split is collected."""
    name, rows = task._raw.day(0), 0
    day = None if name is None else date.fromisoformat(name)

    def forms(found: Batch | Table) -> tuple[Any, Any]:
        """The rows with times as the service wrote them, and with instants where a column needs them."""
        written = found.to_arrow()
        if not columns.has_instants:
            return written, written
        # pyarrow itself would be an hour off after 2037.
        return written, type(found)(found._raw.in_utc(task._raw.source_zone)).to_arrow()

    def batch(written: Any, instants: Any, requested_at: int | None) -> pa.RecordBatch:
        nonlocal rows
        time = None if requested_at is None else datetime.fromtimestamp(requested_at / 1000, UTC)
        rows += len(written)
        return columns.batch(written, instants, {columns.day: day, columns.requested_at: time}, rows - len(written))

    if task._splits:
        table = task._in_zone(None).collect(None, views=False, on_progress=None, wait=True)
        parts = (form.combine_chunks().to_batches(max_chunksize=_ROWS) for form in forms(Table(table)))
        for written, instants in zip(*parts, strict=True):
            yield batch(written, instants, table.stats["requested_at"])
        return dict(table.stats)
    stream = task._open(None, None, None)
    try:
        while (raw := stream.next()) is not None:
            yield batch(*forms(Batch(raw)), stream.requested_at)
        return stream.stats or {}
    finally:
        stream.close()
