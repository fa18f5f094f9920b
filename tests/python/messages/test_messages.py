"""All messages of errors, warnings and logs, as users see them: `messages.txt`, for a reader to review as prose.

A line that is not indented is what a user did: a call, a command line, or what a function of these modules does. Under
it is what they saw. To add a call, write it there; `ACCEPT_MESSAGES=1 pytest tests/python/messages` writes the rest.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from messages.commands import COMMANDS, LOGS
from messages.files import FILES
from messages.folders import FOLDERS
from messages.network import NETWORK
from messages.responses import EXPORTS, RESPONSES, STATUSES
from messages.sandboxes import SANDBOXES
from messages.scans import SCANS
from messages.searches import CONDITIONS, ITEMS, SEARCHES, ZONES
from messages.settings import SETTINGS
from support.messages import Cases, entry, messages_of

import dataaccess as da

FILE = Path(__file__).with_name("messages.txt")
HEADINGS: dict[str, Cases] = {
    "Settings": SETTINGS,
    "A search of codes": SEARCHES,
    "Items": ITEMS,
    "Conditions in Python and as text": CONDITIONS,
    "Time zones": ZONES,
    "The network": NETWORK,
    "Statuses of the service": STATUSES,
    "Responses that break the contract": RESPONSES,
    "Scans and tables": SCANS,
    "Files": FILES,
    "Folders": FOLDERS,
    "Exports": EXPORTS,
    "The sandbox": SANDBOXES,
    "The command": COMMANDS,
    "The log": LOGS,
}
TO_DO = "messages changed: read them, and accept them with ACCEPT_MESSAGES=1 pytest tests/python/messages"
NOW = "2024-03-01T12:00:00+00:00"


# What raises or warns and is in no case, with the reason, by the beginning of `file: function: statement`.
NOT_SHOWN: dict[str, str] = {
    "airflow/": "needs Airflow, which has an environment of its own",
    "spark/": "needs Spark, which has an environment of its own",
    # Shown, and not seen to run.
    "_client/profiles.py: Profile.token": "runs on the thread of tokens, which Python does not trace",
    "_core/embedded.py: warn_of_service": "is issued once in a process, so the case runs one",
    "_core/embedded.py: embedded: warn_caller": "is issued once in a process, so the case runs one",
    # Hard to reach.
    "_client/segment.py: Wait.arguments: raise ClientClosedError": "a fork in a callback, as `test_fork.py` has it",
    "_core/paths.py: location: raise invalid": "an object store",
    "_scan/files.py: output_path: raise invalid('storage_options'": "an object store",
    "_sandbox/control.py: Control._response: raise SandboxError(f'the rows": "rows of 1 GiB",
    "_scan/lazy.py: Source.__init__": "an older polars",
    "cli/rows.py: _into_folder": "Ctrl-C",
    "cli/rows.py: _kind_of: raise click.UsageError('Parquet": "a terminal",
    # Answers of a check, which are no errors.
    "_client/check.py: Check._rows_of_day: raise _OpenError": "api/test_check.py",
    "_client/check.py: Check._comparison: raise _OpenError": "api/test_check.py",
    "_client/check.py: Check._form_of_attributes: raise _OpenError": "api/test_check.py",
    "_client/check.py: Check._time_left: raise _OpenError": "api/test_check.py",
    "_client/check.py: end_of_day: raise _OpenError": "api/test_check.py",
    # Files and commands of the sandbox with tests of their own.
    "cli/sandbox.py": "the command that serves",
    # Queries of polars.
    "_scan/lazy.py: Source._checked": "queries of polars",
    "cli/rows.py: _Judge.check_report": "several files that look wrong together",
}

PACKAGE = Path(da.__file__).parent
WARNERS = {"warn", "warn_caller", "warn_explicit"}


def places() -> dict[str, set[tuple[str, int]]]:
    """The statements that raise or warn, as `file: function: statement`, with their lines."""
    found: dict[str, set[tuple[str, int]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for function, node in _walk(ast.parse(path.read_text(encoding="utf-8")), ""):
            if _is_place(node):
                assert isinstance(node, ast.Raise | ast.Call)
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found[f"{name}: {function}: {ast.unparse(node)}"] = {(str(path), line) for line in lines}
    return found


def _walk(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        inner = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{function}.{child.name}".removeprefix(".")
        yield inner, child
        yield from _walk(child, inner)


def _is_place(node: ast.AST) -> bool:
    """Whether a statement makes an exception or a warning, and so has a message."""
    if isinstance(node, ast.Raise):
        return isinstance(node.exc, ast.Call) and bool(node.exc.args or node.exc.keywords)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in WARNERS
    return False


@contextmanager
def noting_lines(lines: set[tuple[str, int]], ran: set[tuple[str, int]]) -> Iterator[None]:
    """Adds to `ran` which of these lines run in a block, in any thread.

    A block for each case: Python ends tracing at a `RecursionError`.
    """
    files = {file for file, _ in lines}

    def inside(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line" and (place := (frame.f_code.co_filename, frame.f_lineno)) in lines:
            ran.add(place)
        return inside

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        return inside if frame.f_code.co_filename in files else None

    before, before_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(called)
    threading.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(before_threads)


def read(text: str) -> dict[str, list[str]]:
    """The labels under each heading."""
    joined = re.sub(r"\n  (?=\S)", " ", text)
    headings = re.split(r"^(.+)\n=+\n", joined, flags=re.MULTILINE)[1:]
    return {
        heading: re.findall(r"^\S.*", entries, re.MULTILINE)
        for heading, entries in zip(headings[::2], headings[1::2], strict=True)
    }


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(sys.platform != "linux", reason="messages of the system differ elsewhere")
def test_the_messages_are_the_reviewed_ones_and_no_place_has_another(
    sandbox: da.Sandbox, tmp_path: Path, now: Callable[[str], None]
) -> None:
    now(NOW)
    known = places()
    parts, silent = [], []
    labels = read(FILE.read_text(encoding="utf-8"))
    lines_of_places, ran = set().union(*known.values()), set[tuple[str, int]]()
    for heading, cases in HEADINGS.items():
        entries = [f"{heading}\n{'=' * len(heading)}"]
        for label in dict.fromkeys([*labels[heading], *cases.acts]):
            with noting_lines(lines_of_places, ran):
                lines = messages_of(cases.act(label), sandbox, tmp_path)
            entries.append(entry(label, lines))
            silent += [] if lines else [f"{heading}: {label}"]
        parts.append("\n".join(entries))
    text = "\n\n".join(parts) + "\n"
    if os.environ.get("ACCEPT_MESSAGES"):
        FILE.write_text(text, encoding="utf-8")
    assert silent == [], "these say nothing"
    changes = list(
        unified_diff(FILE.read_text(encoding="utf-8").splitlines(), text.splitlines(), "accepted", "now", lineterm="")
    )
    assert not changes, "\n".join([TO_DO, *changes])
    unseen = [place for place, lines in known.items() if not lines & ran]
    assert [place for place in unseen if not place.startswith(tuple(NOT_SHOWN))] == [], "no case shows these"
    assert [place for place in NOT_SHOWN if not any(each.startswith(place) for each in unseen)] == [], "shown, or gone"


# No other test asserts a sentence: `match=` takes a number, a name, a path or one word.


TESTS = Path(__file__).parents[2]
# Three words of plain text in a row, and neither code nor a pattern.
SENTENCE = re.compile(r"(?<![\w`'\"=./:(-])[a-z]{2,} [a-z]{2,} [a-z]{2,}(?![\w(=])")


def sentences(path: Path) -> list[str]:
    """The sentences that a file gives to `match=`."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    given = [word.value for call in calls for word in call.keywords if word.arg == "match"]
    texts = [each for value in given for each in ast.walk(value) if isinstance(each, ast.Constant)]
    return [
        f"{path.relative_to(TESTS).as_posix()}:{text.lineno}: {text.value}"
        for text in texts
        if isinstance(text.value, str) and SENTENCE.search(text.value)
    ]


def test_no_other_test_asserts_a_sentence() -> None:
    files = [path for path in sorted(TESTS.rglob("*.py")) if path != Path(__file__)]
    assert len(files) > 100
    assert [sentence for path in files for sentence in sentences(path)] == []
