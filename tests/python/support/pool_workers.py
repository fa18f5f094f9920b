"""What processes of a pool run: here and not in a test, whose file a new process would import with all it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support import kinds

import dataaccess as da

if TYPE_CHECKING:
    import pyarrow as pa


def ids_of(task: da.Task | da.Scan) -> list[str]:
    return [str(row["id"]) for row in task.to_dicts()]


def arrow_of(task: da.Task) -> pa.Table:
    return task.to_arrow()


def count(client: da.Client) -> int:
    return len(client.search_codes(["id"], allocated_time=da.on("2024-01-15")))


def full(kind: type[da.DataAccessError]) -> da.DataAccessError:
    """An exception of a class, with a string in every field that is pickled."""
    fields: dict[str, Any] = {name: f"<{name}>" for name in kinds.fields_of(kind) if name != "value"}
    error = kind("search_codes: what and where", **fields)
    error.add_note("seen on a Monday")
    return error


def any_token() -> str:
    """A token for servers that accept any."""
    return "tok-any"


def raise_it(kind: type[da.DataAccessError]) -> None:
    raise full(kind)
