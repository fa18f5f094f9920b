"""Which lines of the package raise or warn, and which of them run."""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import dataaccess

PACKAGE = Path(dataaccess.__file__).parent
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
