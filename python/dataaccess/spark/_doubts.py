"""Doubts about responses, in the executors: errors that reach the driver, or warnings in the logs of the executors.

A process of an executor sees one response at a time, and most of what looks wrong shows in a comparison alone. So the
processes of an executor share the figures of all its responses, in a file of the folder that Spark gives the executor.
Spark removes it with the session in local mode; a standalone cluster keeps it until the work folder is cleaned. All of
it is judged as in other scans. Nothing here needs Spark.
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

    # By the index of the request: its name and its figures.
    _Responses = dict[int, tuple[str, dict[str, Any]]]
    _Found = list[tuple[type[DataAccessWarning], str]]

_FIGURES = ("rows", "other_total", "absent", "extra_keys")


@dataclass(frozen=True)
class Doubts:
    """What happens if a response of a scan of so many requests looks wrong. Pickled into each task of Spark."""

    on_doubt: Literal["warn", "error"]
    requests: int
    # Identifies this use of the scan.
    use: str = field(default_factory=lambda: uuid.uuid4().hex)

    def check(self, task: Task, index: int, outcome: dict[str, Any], folder: str) -> None:
        """Checks the complete response of a request. `folder` is the folder that the processes of an executor share."""
        day = task._raw.day(0)
        found = _with_classes(outcome["warnings"])
        if self.requests > 1 and outcome["split"] is None:
            # These say less alone than beside other responses.
            caps = outcome["reasons"]
            found = [(kind, text) for kind, text in found if not any(reason in text for reason in caps)]
            found = [doubt for doubt in found if doubt[0] is not AbsentAttributeWarning]
            found += self._beside(task, index, day or f"request {index + 1}", outcome, folder)
        if not found:
            return
        name = f"request {index + 1} of {self.requests}{'' if day is None else f' ({day})'}"
        if self.on_doubt == "error":
            raise DoubtfulDataError(f"{name}: {'; '.join(text for _, text in found)}")
        for kind, text in found:
            warn_caller(f"{name}: {text}", kind)

    def _beside(self, task: Task, index: int, name: str, outcome: dict[str, Any], folder: str) -> _Found:
        """What looks wrong in a response beside the others of this executor."""

        def judged(responses: _Responses) -> dict[int, _Found]:
            doubts = task._raw.doubts_of_some(self.requests, list(responses.values()))
            return dict(zip(responses, map(_with_classes, doubts), strict=True))

        figures = {key: outcome[key] for key in _FIGURES} | {"is_explained": task._raw.explains(outcome["rows"])}
        own = {index: (name, figures)}
        if alone := judged(own)[index]:
            return alone
        try:
            responses = self._shared(own, folder)
        except OSError as error:
            return [(DataAccessWarning, f"responses were not compared, so a cap may be missed: {error}")]
        found = judged(responses)[index]
        del responses[index]
        if self.on_doubt == "warn" and any(IncompleteWarning in dict(doubts) for doubts in judged(responses).values()):
            # Of a cap, the response that showed it has warned.
            found = [doubt for doubt in found if doubt[0] is not IncompleteWarning]
        return [(kind, f"{text}, of one executor") for kind, text in found]

    def _shared(self, own: _Responses, folder: str) -> _Responses:
        """Adds a response to those of this executor; returns it and those before it, in the order of their requests.

        Those that come after it compare themselves with it: so one of several that are added at once warns.
        """
        with Path(folder, f".dataaccess-{self.use}.jsonl").open("a+b") as file:
            # One write of the operating system at the end of the file: lines of several processes do not mix.
            os.write(file.fileno(), "".join(f"{json.dumps(item)}\n" for item in own.items()).encode())
            file.seek(0)
            # The last line may still be written.
            lines = file.read().split(b"\n")[:-1]
        responses: _Responses = {}
        for index, response in map(json.loads, lines):
            responses[index] = (*response,)
            if index in own:
                break
        return {index: responses[index] for index in sorted(responses)}


def _with_classes(doubts: list[dict[str, str]]) -> _Found:
    return [(getattr(errors, doubt["category"]), doubt["message"]) for doubt in doubts]
