"""The tasks of a scan as Spark pickles them: the request in its partition, what all share in the reader.

An executor makes the tasks again, with one client for each of its processes: its connections and its token serve one
task after the other. Nothing here needs Spark.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dataaccess._scan.scan import Task

if TYPE_CHECKING:
    from dataaccess import Client, Scan

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
