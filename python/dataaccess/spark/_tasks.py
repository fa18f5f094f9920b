"""The tasks of a scan as Spark pickles them: the request in its partition, what all share in the reader.

An executor makes the tasks again, with one client for each of its processes: its connections and its token serve one
task after the other. The response of a task comes as batches of Spark. Nothing here needs Spark.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dataaccess._scan.batches import Batch
from dataaccess._scan.scan import Task
from dataaccess._scan.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from dataaccess import Client, Scan
    from dataaccess.spark._columns import Columns

# Clients of one process: those of the queries that run at the same time.
_CLIENTS = 4


@dataclass(frozen=True)
class PlannedTask:
    """One request of a scan that the driver has checked.

    Attributes:
        id: The id of the task.
        body: The body of the request.
        day: The day that it is for; None if it is for no single day.
    """

    id: str
    body: dict[str, Any]
    day: str | None


@dataclass(frozen=True)
class Shared:
    """What the tasks of a scan share.

    Attributes:
        client: The pickled client, which has no token.
        call: The method that made the scan.
        schema: The types of the columns.
        splits: Whether a response that looks capped is split.
    """

    client: bytes
    call: str
    schema: dict[str, Any] | None
    splits: bool

    def task(self, planned: PlannedTask) -> Task:
        """The task, with the client of this process."""
        client = _client(self.client)
        return Task._from_body(client, self.call, planned.body, self.schema, planned.id, self.splits)


def planned_tasks(scan: Scan) -> list[PlannedTask]:
    """The requests of a scan, in the order of its plan."""
    return [PlannedTask(task.id, task._raw.body(0), task._raw.day(0)) for task in scan.tasks()]


def shared_by_tasks(scan: Scan) -> Shared:
    """What the tasks of a scan share."""
    return Shared(pickle.dumps(scan._client), scan._call, scan._schema, scan._splits)


@lru_cache(_CLIENTS)
def _client(pickled: bytes) -> Client:
    """The client of this process with these settings. One that is not used any more closes with its last task."""
    client: Client = pickle.loads(pickled)  # noqa: S301 - of our own driver
    return client


_ROWS = 8_192


class Response:
    """The response of a task, and what is known of it once its batches were read.

    Attributes:
        outcome: The figures and warnings of the response.
    """

    outcome: dict[str, Any]

    def __init__(self, task: Task, columns: Columns) -> None:
        """Sends nothing."""
        self._task = task
        self._columns = columns
        day = task._raw.day(0)
        self._day = None if day is None else date.fromisoformat(day)
        self._rows = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, batch by batch. A response that may be split is collected first."""
        return self._collected() if self._task._splits else self._streamed()

    def _streamed(self) -> Iterator[pa.RecordBatch]:
        stream = self._task._open(None, None, None)
        try:
            while (raw := stream.next()) is not None:
                yield self._batch(*self._forms(Batch(raw)), stream.requested_at)
            self.outcome = stream.stats or {}
        finally:
            stream.close()

    def _collected(self) -> Iterator[pa.RecordBatch]:
        raw = self._task._in_zone(None).collect(None, views=False, on_progress=None, wait=True)
        self.outcome = raw.stats
        forms = (form.combine_chunks().to_batches(max_chunksize=_ROWS) for form in self._forms(Table(raw)))
        for written, instants in zip(*forms, strict=True):
            yield self._batch(written, instants, raw.stats["requested_at"])

    def _forms(self, rows: Batch | Table) -> tuple[Any, Any]:
        """The rows with times as the service wrote them, and with instants where a column needs them."""
        written = rows.to_arrow()
        if not self._columns.has_instants:
            return written, written
        # pyarrow itself would be an hour off after 2037.
        return written, type(rows)(rows._raw.in_utc(self._task._raw.source_zone)).to_arrow()

    def _batch(self, written: Any, instants: Any, requested_at: int | None) -> pa.RecordBatch:
        time = None if requested_at is None else datetime.fromtimestamp(requested_at / 1000, UTC)
        batch = self._columns.batch(written, instants, self._day, time, self._rows)
        self._rows += len(written)
        return batch
