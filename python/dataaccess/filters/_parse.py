"""A condition as text: what `repr` gives, or what a user writes in Python. Nothing is evaluated."""

from __future__ import annotations

import ast
import inspect
import io
import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from importlib import import_module
from typing import Any

from dataaccess.filters import _conditions
from dataaccess.filters._conditions import Column, Comparison, Days, Expression

_FUNCTIONS = ("after", "before", "col", "days", "last_days", "month", "on", "op", "since", "until", "yesterday")
_METHODS = ("after", "before", "between", "equals", "matches", "on", "op", "since", "until")
_CALLS: dict[str, Callable[..., Any]] = {
    **{name: getattr(_conditions, name) for name in _FUNCTIONS},
    **{kind.__name__: kind for kind in (date, datetime, timedelta, timezone)},
    # Its module takes milliseconds, and few texts have a zone.
    "ZoneInfo": lambda key: import_module("zoneinfo").ZoneInfo(key),
}
_VALUES = {"timezone.utc": UTC, "inf": math.inf, "nan": math.nan}
# What may precede a name: `da.days(…)`, `datetime.date(…)`.
_MODULE = re.compile(r"(da|dataaccess|datetime|zoneinfo)\.")
_ONE_STRING = re.compile(rb"""[rRuU]?('[^'\\]*(\\.[^'\\]*)*'|"[^"\\]*(\\.[^"\\]*)*")""", re.DOTALL)
_EXAMPLE = "write it as col('id').equals('17') & col('opened').on('2024-01-15'), or as on('2024-01-15')"
_NAMES = f"there are {', '.join(_FUNCTIONS)}, and methods of col(name): {', '.join(_METHODS)}"
# What Python's parser finds, in the words of conditions.
_MISTAKES = {
    "leading zeros|invalid decimal": "a string, such as a day, needs quotes",
    "unterminated": "the quote is not closed",
    "never closed": "the bracket is not closed",
    "unmatched|does not match": "the bracket closes none",
    "too many nested": "too many brackets within each other",
    "null": "a null character",
}
_LONGEST = 65_536
_SHOWN = 60


def parse(text: str) -> Expression | Comparison | Days:
    """Reads a condition from text: the `repr` of a condition, or what you would write in Python.

    Nothing is evaluated, so the text may come from a configuration file or a template.

    Args:
        text: The condition: of a search of items as `col('opened').on('2024-01-15') | col('vip').equals(1)`, of
            promotion codes as `days('2024-01-01', '2024-02-01')`; `da.` may precede a name.

    Returns:
        The condition. It equals the condition whose `repr` is the text.

    Raises:
        ValueError: The text is no condition, or has more than 65,536 characters. The message has the position of the
            mistake, and how to write it.

    Examples:
        >>> import dataaccess as da
        >>> da.filters.parse("col('opened').on('2024-01-15') | da.col('vip').equals(1)")
        col('opened').on('2024-01-15') | col('vip').equals(1)
    """
    if len(text) > _LONGEST:
        size = f"has {len(text):,} characters; a condition as text takes {_LONGEST:,}"
        raise ValueError(f"{cut(text)} {size}. Pass long lists in Python, as in da.col(name).matches(ids)")
    return condition_of(text)


def condition_of(text: str) -> Expression | Comparison | Days:
    """The condition of a text of any length."""
    found = read(text)
    if isinstance(found, Expression | Comparison | Days):
        return found
    what = f"{cut(repr(found))} is a column" if isinstance(found, Column) else "this is a value"
    raise ValueError(f"{cut(text)!r}: {what}, not a condition; {_EXAMPLE}")


def read(text: str) -> Any:
    """The value or condition that a text writes."""
    stripped = text.strip()
    # Python continues a line only within parentheses.
    source = f"({stripped}\n)" if {*"\r\n"} & {*stripped} else stripped
    try:
        reader = _Reader(source)
        return reader.value(ast.parse(source, mode="eval").body)
    except SyntaxError as error:
        skipped = text.index(stripped) - (source is not stripped)
        before = b"".join(reader.lines[: (error.lineno or 1) - 1]).decode()
        # At the end of the text Python names no place.
        place = skipped + len(before) + (error.offset or len(stripped) + 1)
        place = min(max(place, 1), len(text) + 1)
        problem = f"character {place}: {_in_words(error, text[place - 1 :])}"
    except (RecursionError, MemoryError):
        problem = "too many conditions, or nested too deeply: values of one column go into one .matches([...])"
    except ValueError as error:
        # Such as a null character, or half of a surrogate pair.
        problem = str(error)
    advice = "" if problem.endswith(_NAMES) else f"; {_EXAMPLE}"
    raise ValueError(f"{cut(text)!r}: {problem}{advice}")


class _MistakeError(SyntaxError):
    """A mistake that Python's parser allows."""


class _Reader:
    """Reads the nodes of one text."""

    def __init__(self, source: str) -> None:
        # As Python counts: in bytes, and with fewer ends of lines than `splitlines`.
        self.lines = [line.encode() for line in io.StringIO(source, newline="")]

    def value(self, node: ast.expr) -> Any:
        """The value of a node."""
        match node:
            case ast.Constant(value=str()) if not _ONE_STRING.fullmatch(self._written(node)):
                raise self._refused(node, "two strings need a comma between them")
            case ast.Constant(value=str() | int() | float() | None as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=(ast.Constant(value=int() | float()) | ast.Name("inf")) as number):
                return -self.value(number)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return [self.value(each) for each in elements]
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                return {self.value(key): self.value(each) for key, each in zip(keys, values, strict=True) if key}
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                return self._joined(node)
            case ast.Call(keywords=named) if all(each.arg for each in named):
                return self._called(node)
            case ast.Name() | ast.Attribute() if (name := _name_of(node)) in _VALUES:
                return _VALUES[name]
            case ast.Name():
                raise self._refused(node, f"{cut(node.id)} needs quotes, if it is a string")
            case ast.BoolOp(values=[_, second, *_]):
                raise self._refused(second, "conditions are joined by & and |")
            case ast.Compare(comparators=[right, *_]):
                raise self._refused(right, "a comparison is a method, as in col(name).equals(value) or .since(day)")
            case ast.UnaryOp(op=ast.Not() | ast.Invert()):
                raise self._refused(node, "a condition has no opposite")
        raise self._refused(node, f"{cut(ast.unparse(node))} is no part of a condition")

    def _joined(self, node: ast.expr) -> Any:
        """Conditions joined by signs, of which the last is the outermost: in a loop, as there may be thousands."""
        joints: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            joints.append(node)
            node = node.left
        found = self.value(node)
        for joint in reversed(joints):
            right = self.value(joint.right)
            if not isinstance(found, Column | Comparison | Days | Expression):
                raise self._refused(node, f"{cut(ast.unparse(node))} is a value, not a condition")
            try:
                found = found & right if isinstance(joint.op, ast.BitAnd) else found | right
            except (TypeError, ValueError) as error:
                raise self._refused(joint.right, str(error)) from None
        return found

    def _called(self, node: ast.Call) -> Any:
        function = self._function(node.func)
        arguments = [self.value(each) for each in node.args]
        named = {each.arg or "": self.value(each.value) for each in node.keywords}
        try:
            if needed := _missing(function, arguments, named):
                raise TypeError(f"{ast.unparse(node.func)} takes {needed}")
            return function(*arguments, **named)
        except (TypeError, ValueError, OverflowError, LookupError, OSError) as error:
            # Such as a zone that does not exist.
            raise self._refused(node, str(error)) from None

    def _function(self, node: ast.expr) -> Any:
        """The function of a call: one of ours, a date, or a method of `col`."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and node.attr in _METHODS:
            column = self.value(node.value)
            if isinstance(column, Column):
                return getattr(column, node.attr)
        if (name := _name_of(node)) in _CALLS:
            return _CALLS[name]
        raise self._refused(node, f"there is no {cut(ast.unparse(node))}; {_NAMES}")

    def _written(self, node: ast.expr) -> bytes:
        """A node as the text has it; of several lines the first."""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return self.lines[node.lineno - 1][node.col_offset : end]

    def _refused(self, node: ast.expr, problem: str) -> SyntaxError:
        before = self.lines[node.lineno - 1][: node.col_offset].decode()
        return _MistakeError(problem, (None, node.lineno, len(before) + 1, None))


def _in_words(error: SyntaxError, rest: str) -> str:
    """The mistake that the reader found, or Python's parser, where the rest of the text begins."""
    if type(error) is _MistakeError or "invalid character" in error.msg:
        return error.msg
    found = [mistake for pattern, mistake in _MISTAKES.items() if re.search(pattern, error.msg)]
    written = cut(rest.strip())
    return found[0] if found else f"{written} cannot be read here" if written else "something is missing at the end"


def _missing(function: Callable[..., Any], arguments: list[Any], named: dict[str, Any]) -> str:
    """The parameters of a function that cannot be called like this, in parentheses."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        # Of types of the standard library.
        return ""
    try:
        signature.bind(*arguments, **named)
    except TypeError:
        return f"({', '.join(signature.parameters)})"
    return ""


def _name_of(node: ast.expr) -> str:
    """A name with dots, without the module before it."""
    return _MODULE.sub("", ast.unparse(node), count=1) if isinstance(node, ast.Name | ast.Attribute) else ""


def cut(text: str) -> str:
    """The beginning of a text, for an error."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
