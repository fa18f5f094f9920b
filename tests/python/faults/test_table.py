"""The table of faults: each case through each entry point with both clients, and the page that is printed from it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from faults.table import CASES, LATER, NEVER, ONCE, RETRIED, SECTIONS, Fault, fault_of, faults
from support import kinds
from support.operations import WHOLE, Entry
from support.raw_server import Close, serving

import dataaccess as da

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reliability.md"
MATRIX = [(name, entry) for name, case in CASES.items() for entry in case.of]
MENDING = [(name, entry) for name, entry in MATRIX if CASES[name].retried in (RETRIED, ONCE)]


@pytest.mark.both_clients
@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(("name", "entry"), MATRIX, ids=str)
def test_a_response_that_is_no_result_raises_its_error(connect: Any, tmp_path: Path, name: str, entry: Entry) -> None:
    case = CASES[name]
    # The default, unless a case is retried for as long as that.
    options = {"retry_for": case.retry_for or 0.5} if case.retried == RETRIED else {}
    with serving(case.respond) as server:
        with pytest.raises(da.DataAccessError) as caught:
            entry(connect(server.base_url, token="tok-secret", **options), tmp_path)
        error = caught.value
        assert kinds.kind_of(error) is case.error, repr(error)
        assert error.attempts == len(server.requests) == len(error.history)
        if case.retried == RETRIED:
            # On a busy machine `retry_for` may end before the second attempt, and the error says so.
            assert error.attempts > 1 or "retry_for" in str(error)
        else:
            assert error.attempts == (2 if case.retried == ONCE else 1)
    assert error.retryable is (case.retried != NEVER)
    assert error.operation == entry.operation
    assert error.request_id == server.requests[-1].headers["x-request-id"]
    assert case.field in (None, getattr(error, "field", None))
    if name[:4] in ("H26-", "H18-"):
        assert error.status == int(name[4:])  # type: ignore[attr-defined] # of these errors
    message = str(error)
    assert message.startswith(f"{entry.operation}: ")
    assert message.isprintable()
    assert "tok-secret" not in message + repr(error.__dict__)


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(("name", "entry"), MENDING, ids=str)
def test_what_succeeds_later_is_never_noticed(connect: Any, tmp_path: Path, name: str, entry: Entry) -> None:
    failures = 2 if CASES[name].retried == RETRIED else 1

    def respond(connection: Any, number: int) -> None:
        if number < failures:
            CASES[name].respond(connection, number)
            raise Close
        connection.sendall(WHOLE)

    with serving(respond) as server:
        assert entry(connect(server.base_url), tmp_path) == entry.result
        assert len(server.requests) == failures + 1


# How a line of the table names the cases that are retried alike.
MARKS = {"*": None, "{retried}": RETRIED, "{once}": ONCE, "{later}": LATER, "{never}": NEVER}


def raised(fault: Fault) -> str:
    """What the client does, with what the cases of the fault raise, as the page says it."""
    found: dict[str, list[str]] = {}
    for case in (case for name, case in CASES.items() if fault_of(name) in fault.ids):
        kind = case.error
        public = kind.__base__ if kind.__module__ == kinds.__name__ else kind
        assert public is not None
        reason = f" (`{vars(kind)['reason']}`)" if "reason" in vars(kind) else ""
        texts = found.setdefault(case.retried, [])
        if (text := f"`{public.__name__}`{reason}") not in texts:
            texts.append(text)
    does = fault.does
    for mark, retried in MARKS.items():
        if mark in does:
            [kind_of_retry] = found if retried is None else [retried]
            does = does.replace(mark, f"{', '.join(found.pop(kind_of_retry))}: {kind_of_retry}.", 1)
    # A line shows all that its cases raise, or describes them in words of its own.
    assert not found or does == fault.does, fault
    return does


INTRODUCTION = """# Reliability

Each row is a fault and what the package guarantees. Tests send each bad response to searches, scans, batches, folders
and downloads, of both clients.

"Retried" means: as long as `retry_for` allows. The caller sees the error only if the last attempt fails too. "Retried
once" means at most two requests. In the ids, C is a connection, H is HTTP, J is JSON, R is a retry, P is a process, S
is a folder, and O is an object store.

Errors and logs never show a token, a password, a secret header or a row. This holds for texts, pickles and tracebacks
with locals. Only the fields `ResponseError.value` and `body_excerpt` can hold a part of a response.
"""


def printed() -> str:
    parts = [INTRODUCTION]
    for section in SECTIONS:
        parts.append(f"## {section}\n\n| id | what happens | what the client does |\n|---|---|---|")
        for fault in faults(section):
            parts[-1] += f"\n| {', '.join(fault.ids)} | {fault.happens} | {raised(fault)} |"
        parts[-1] += "\n"
    return "\n".join(parts)


def test_the_page_is_printed_from_the_table() -> None:
    """`ACCEPT_RELIABILITY=1` writes it."""
    if os.environ.get("ACCEPT_RELIABILITY"):
        PAGE.write_text(printed(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == printed()
    assert printed().count("\n") <= 120


def test_each_fault_has_a_case_or_a_test_of_its_own() -> None:
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py")]
    markers = "".join(marker for text in texts for marker in re.findall(r"@?pytest\.mark\.fault\(([^)]*)\)", text))
    marked = set(re.findall(r'"(\w+)"', markers))
    # Other folders name their tests by the id.
    marked |= {each.upper() for text in texts for each in re.findall(r"def test_([osrp]\d+)_", text)}
    ids = [each for section in SECTIONS for fault in faults(section) for each in fault.ids]
    assert len(ids) == len(set(ids))
    assert {fault_of(name) for name in CASES} | marked == set(ids)
