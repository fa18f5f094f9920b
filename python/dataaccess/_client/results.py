"""Results as they are handed over, and what is said of those that may not be what they seem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess._core.warn import warn_caller
from dataaccess._scan.outcome import warn_of
from dataaccess.errors import IncompleteWarning, WaitTimeoutError

if TYPE_CHECKING:
    from dataaccess.types import OnUpdate


def checked_rows(result: tuple[list[dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a search; warns of what is doubtful."""
    rows, told = result
    warn_of(told)
    return rows


def checked_entries(answer: dict[str, Any]) -> dict[str, Any]:
    """A download; warns when it tells another number of entries than it has."""
    data = answer["data"]
    meta = data.get("meta")
    total = meta.get("total") if isinstance(meta, dict) else None
    result = {"entries": data["entries"], "meta": meta}
    result.update((name, value) for name, value in data.items() if name not in result)
    result.update((name, value) for name, value in answer.items() if name != "data")
    if total is not None and total != len(data["entries"]):
        warn_caller(f"the answer tells of {total} entries and has {len(data['entries'])}", IncompleteWarning)
    return result


def told(on_update: OnUpdate | None) -> OnUpdate | None:
    """A callback that gets each answer in the form of the last one."""
    return None if on_update is None else lambda answer: on_update(checked_entries(answer))


def ended(export_id: object, timeout: float, outcome: tuple[bool, dict[str, Any] | None]) -> dict[str, Any]:
    """The answer of a wait that ended well."""
    finished, last = outcome
    answer = None if last is None else checked_entries(last)
    if finished and answer is not None:
        return answer
    raise WaitTimeoutError(
        f"wait_for_segment: export {export_id} has not ended within {timeout:g} s; "
        "wait longer with timeout=, the last answer is in .last",
        operation="wait_for_segment",
        hint="wait longer with timeout=",
        retryable=True,
        last=answer,
    )
