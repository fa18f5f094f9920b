"""Doubts about responses, in the executors: errors that reach the driver, or warnings in the logs of the executors.

A process of an executor sees one response at a time, and most caps show in a comparison alone. So the processes of an
executor share the numbers of rows of all its responses, in a file of the folder that Spark gives the executor. Spark
removes it with the session in local mode; a standalone cluster keeps it until the work folder is cleaned.
Nothing here needs Spark.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dataaccess import errors
from dataaccess._core.warn import warn_caller
from dataaccess.errors import AbsentAttributeWarning, DataAccessWarning, DoubtfulDataError, IncompleteWarning

if TYPE_CHECKING:
    from dataaccess._scan.scan import Task

    # By the index of the request: what `cap_reasons` takes.
    _Counts = dict[int, tuple[str, int, bool, str | None]]

_MISSING = "rows may be missing: "
_LESS = "; ask for less per request"
_SPLIT = f'{_LESS}, or split requests that look capped with .option("on_suspected_cap", "split")'


@dataclass(frozen=True)
class Doubts:
    """What happens if a response of a scan looks wrong. Pickled into each task of Spark.

    Attributes:
        on_doubt: Whether a doubt is an error or a warning.
        requests: The number of requests of the scan.
        use: Identifies this use of the scan.
    """

    on_doubt: Literal["warn", "error"]
    requests: int
    use: str = field(default_factory=lambda: uuid.uuid4().hex)

    def check(self, task: Task, index: int, outcome: dict[str, Any], folder: str) -> None:
        """Checks the complete response of a request. `folder` is the folder that the processes of an executor share.

        Raises:
            DoubtfulDataError: The response looks wrong, and `on_doubt` is "error".
        """
        day = task._raw.day(0)
        is_split = outcome["split"] is not None
        found = [
            (getattr(errors, warning["category"]), warning["message"])
            for warning in outcome["warnings"]
            # Caps are looked for below, beside the other responses.
            if (is_split or not warning["message"].startswith(_MISSING))
        ]
        if not is_split:
            found += self._caps(task, index, day or f"request {index + 1}", outcome, folder)
        if self.on_doubt == "error":
            # Of several responses, one may lack an attribute that others have.
            found = [doubt for doubt in found if self.requests == 1 or doubt[0] is not AbsentAttributeWarning]
        if not found:
            return
        where = "" if day is None else f" ({day})"
        name = f"request {index + 1} of {self.requests}{where}"
        if self.on_doubt == "error":
            raise DoubtfulDataError(f"{name}: {'; '.join(text for _, text in found)}")
        for kind, text in found:
            warn_caller(f"{name}: {text}", kind)

    def _caps(
        self, task: Task, index: int, name: str, outcome: dict[str, Any], folder: str
    ) -> list[tuple[type[DataAccessWarning], str]]:
        """Why a response looks capped, alone or beside the others."""
        raw, rows = task._raw, outcome["rows"]
        own = name, rows, raw.explains(rows), outcome["other_total"]
        alone = raw.cap_reasons(self.requests, [own])
        if alone:
            return [(IncompleteWarning, f"{_MISSING}{'; '.join(alone)}{_SPLIT}")]
        if self.requests == 1:
            return []
        try:
            counts = self._shared({index: own}, folder)
        except OSError as error:
            return [(DataAccessWarning, f"the rows of responses were not compared, so a cap may be missed: {error}")]
        reasons = raw.cap_reasons(self.requests, list(counts.values()))
        del counts[index]
        if self.on_doubt == "warn" and raw.cap_reasons(self.requests, list(counts.values())):
            # The response before has caused the warning.
            return []
        return [(IncompleteWarning, f"{_MISSING}{reason}, of one executor{_LESS}") for reason in reasons]

    def _shared(self, own: _Counts, folder: str) -> _Counts:
        """Adds a response to those of this executor; returns it and those before it, in the order of their requests.

        Those that come after it compare themselves with it: so one of several that are added at once warns.
        """
        with Path(folder, f".dataaccess-{self.use}.jsonl").open("a+b") as file:
            # One write of the operating system at the end of the file: lines of several processes do not mix.
            os.write(file.fileno(), "".join(f"{json.dumps(item)}\n" for item in own.items()).encode())
            file.seek(0)
            # The last line may still be written.
            lines = file.read().split(b"\n")[:-1]
        counts: _Counts = {}
        for index, count in map(json.loads, lines):
            counts[index] = (*count,)
            if index in own:
                break
        return {index: counts[index] for index in sorted(counts)}
