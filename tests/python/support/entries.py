"""The calls through which a response reaches a user, and what each makes of the response that is valid for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.operations import DOWNLOAD, SEARCH

import dataaccess as da

DAY = da.on("2024-01-15")


@dataclass(frozen=True)
class Entry:
    """A call, the operation that its errors name, and its result."""

    name: str
    operation: str
    call: Callable[[Any, Path], Any]
    result: Any

    def __str__(self) -> str:
        return self.name

    def __call__(self, client: Any, folder: Path) -> Any:
        """Calls it. A run of one task raises the error of its task."""
        try:
            return self.call(client, folder)
        except da.ScanIncompleteError as error:
            (failed,) = error.failed.values()
            raise failed from None


def _scan(client: Any) -> Any:
    return client.scan_codes(["id"], allocated_time=DAY)


def _folder(client: Any, folder: Path) -> Any:
    scan = _scan(client)
    scan.to_folder(folder)
    return scan.read_folder(folder).to_dicts()


def _batches(client: Any, _folder: Path) -> Any:
    return [row for batch in _scan(client).batches() for row in batch.to_dicts()]


OF_ROWS = (
    Entry("search", "search_codes", lambda client, _: SEARCH(client), SEARCH.result),
    Entry("collect", "scan_codes", lambda client, _: _scan(client).to_arrow().to_pylist(), SEARCH.result),
    Entry("batches", "scan_codes", _batches, SEARCH.result),
    Entry("folder", "scan_codes", _folder, SEARCH.result),
)
ENTRIES = (*OF_ROWS, Entry("download", "download_segment", lambda client, _: DOWNLOAD(client), DOWNLOAD.result))
# For cases that differ by a number only.
FEW = (ENTRIES[0], ENTRIES[-1])
