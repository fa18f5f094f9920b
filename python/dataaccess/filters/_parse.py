"""A condition as text: what `repr` gives back, read without evaluating anything.

Literals, dates and the functions of `dataaccess` that make conditions are all that is read. Loaded with the first text.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn
from zoneinfo import ZoneInfo

from dataaccess._public import did_you_mean
from dataaccess.filters._column import Column, Expression, col
from dataaccess.filters._comparison import (
    Comparison,
    Days,
    after,
    before,
    days,
    last_days,
    month,
    on,
    op,
    since,
    until,
    yesterday,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CONDITIONS = (after, before, col, days, last_days, month, on, op, since, until, yesterday)
_CALLS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (*_CONDITIONS, date, datetime, timedelta, timezone, ZoneInfo)
}
_NAMES = ", ".join(each.__name__ for each in _CONDITIONS)
_METHODS = ("matches", "equals", "after", "before", "since", "until", "between", "on", "op")
# What may precede a name: `da.days(…)`, `datetime.date(…)`.
_MODULES = re.compile(r"^(?:da|dataaccess|datetime|zoneinfo)\.")
_UTC = dict.fromkeys(("datetime.timezone.utc", "timezone.utc"), UTC)
_DAY = re.compile(r"\d{4}-\d\d")
_ADJACENT = re.compile(r"""['"]\s*[bfruBFRU]{0,2}['"]""")
_INSTEAD: dict[type[ast.expr], str] = {
    ast.BoolOp: ": join conditions by & and |",
    ast.Compare: ": write a method of col, such as col('customer_id').equals('17')",
    ast.UnaryOp: ": the API specification shows no NOT, write col(name).op(operator, values)",
    ast.Name: ": strings are in quotes",
}
_KINDS: dict[type[ast.expr], Callable[..., Any]] = {ast.List: list, ast.Tuple: tuple, ast.Set: set}
_SHOWN = 60
# Characters of a text, and levels of filters in JSON, which have five.
_LONGEST = 65_536
_DEEPEST = 20


def parse(text: str) -> Expression | Comparison | Days:
    """Reads a condition from text: what the `repr` of a condition is, or what you would write in Python.

    Nothing is evaluated: the text may hold literals, dates, and `col`, `days`, `month`, `last_days`, `yesterday`, `on`,
    `since`, `until`, `after`, `before` and `op`, also as `da.col`. So it may come from a configuration file or a
    template.

    Args:
        text: The condition, such as `col('opened').on('2024-01-15') | col('vip').equals(1)`, or for promotion codes
            `days('2024-01-01', '2024-02-01')`.

    Returns:
        The condition, equal to the one whose `repr` is the text.

    Raises:
        ValueError: The text is no condition, or has more than 65,536 characters. The message says where, and what to
            write.

    Examples:
        >>> import dataaccess as da
        >>> da.filters.parse("col('opened').on('2024-01-15') | da.col('vip').equals(1)")
        col('opened').on('2024-01-15') | col('vip').equals(1)
        >>> da.filters.parse("days('2024-01-01', '2024-02-01')")
        days('2024-01-01', '2024-02-01')
    """
    if len(text) > _LONGEST:
        size = f"has {len(text):,} characters; a condition as text takes {_LONGEST:,}"
        raise ValueError(f"{cut(text)} {size}. Pass long lists in Python, as in da.col(name).matches(ids)")
    return condition_of(text)


def condition_of(text: str) -> Expression | Comparison | Days:
    """The condition of a text of any length, as one that Airflow passes between tasks.

    Raises:
        ValueError: As `parse`.
    """
    found = read(text)
    if isinstance(found, Column):
        raise ValueError(f"{found!r} is a column without a condition: write {found!r}.matches([...])")
    if not isinstance(found, Expression | Comparison | Days):
        problem = "is a value, not a condition: write col(name).matches([...]) or on(day)"
        raise ValueError(f"{cut(text)} {problem}")
    return found


def read(text: str, names: Mapping[str, object] = MappingProxyType({})) -> Any:
    """The value or condition that a text writes, in which names are those of other values.

    Raises:
        ValueError: It writes neither.
    """
    try:
        return _read(text, names)
    except ValueError as error:
        raise ValueError(f"{cut(text)!r}: {error}") from None


def filters_of(text: str) -> Any:
    """The filters of the API specification that a text has in JSON.

    Raises:
        ValueError: It is not JSON, or nested deeper than filters are.
    """
    try:
        found = json.loads(text)
        level, depth = [found] if isinstance(found, dict | list) else [], 0
        while level and depth <= _DEEPEST:
            inner = (each.values() if isinstance(each, dict) else each for each in level)
            level, depth = [each for values in inner for each in values if isinstance(each, dict | list)], depth + 1
    except json.JSONDecodeError as error:
        raise ValueError(f"{cut(text)!r} is not JSON: {error}") from None
    except RecursionError:
        depth = _DEEPEST + 1
    if depth > _DEEPEST:
        raise ValueError(f'{cut(text)!r}: is nested too deeply: filters are {{"OR": [{{"AND": […]}}]}}')
    return found


def _read(text: str, names: Mapping[str, object]) -> Any:
    if _DAY.match(text.strip()):
        raise ValueError(
            "is a day without a condition: write on('2024-01-15'), since(…), until(…), after(…) or before(…)"
        )
    if _ADJACENT.search(text) and _has_adjacent_strings(text):
        raise ValueError("has two strings without a comma between them, which Python joins")
    stripped = text.strip()
    # Python continues a line only within parentheses.
    source = f"({stripped})" if "\n" in stripped else stripped
    reader = _Reader(source, text.index(stripped) - (source != stripped), names)
    try:
        return reader.value(ast.parse(source, mode="eval").body)
    except SyntaxError as error:
        place = f", {reader.place(error.lineno, error.offset - 1)}" if error.lineno and error.offset else ""
        raise ValueError(f"is not Python ({error.msg}{place}); strings are in quotes") from None
    except (RecursionError, MemoryError):
        advice = "values of one column go into one col(name).matches([...])"
        raise ValueError(f"is nested too deeply, or has too many conditions: {advice}") from None


def _has_adjacent_strings(text: str) -> bool:
    """Whether a comma is missing, as in numpy's text of an array."""
    previous = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({text.strip()})").readline):
            if token.type == previous == tokenize.STRING:
                return True
            previous = previous if token.type == tokenize.NL else token.type
    except (tokenize.TokenError, SyntaxError):
        # No Python: the caller says where.
        pass
    return False


class _Reader:
    """Reads the nodes of one text."""

    def __init__(self, source: str, skipped: int, names: Mapping[str, object]) -> None:
        """Takes what Python reads, the number of characters that the text has before it, and values by name."""
        # Lines of Python: `splitlines` knows more ends of them.
        self._lines = list(io.StringIO(source, newline=""))
        self._skipped = skipped
        self._names = {**_UTC, **names}

    def place(self, line: int, column: int) -> str:
        """Where a character is in the text of the user."""
        return f"character {self._skipped + sum(map(len, self._lines[: line - 1])) + column + 1}"

    def value(self, node: ast.expr) -> Any:
        """The value of a node."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return self._joined(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.Name | ast.Attribute) and (name := ast.unparse(node)) in self._names:
            return self._names[name]
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            # Lists of dates, and what is no value.
            if isinstance(node, ast.List | ast.Tuple | ast.Set):
                return self._collected(node)
            return self._refuse(node, f"is neither a value nor a condition{_INSTEAD.get(type(node), '')}")

    def _collected(self, node: ast.List | ast.Tuple | ast.Set) -> Any:
        values = [self.value(each) for each in node.elts]
        try:
            return _KINDS[type(node)](values)
        except TypeError as error:
            # A set holds no lists.
            self._refuse(node, str(error), is_shown=False)

    def _joined(self, node: ast.expr) -> Any:
        """Conditions joined by operators, of which the last is the outermost: in a loop, as there may be thousands."""
        joints: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            joints.append(node)
            node = node.left
        found = self.value(node)
        for joint in reversed(joints):
            right = self.value(joint.right)
            try:
                found = found & right if isinstance(joint.op, ast.BitAnd) else found | right
            except (TypeError, ValueError) as error:
                self._refuse(joint.right, str(error), is_shown=False)
        return found

    def _called(self, node: ast.Call) -> Any:
        function = self._function(node.func)
        arguments = [self.value(each) for each in node.args]
        keywords = {each.arg: self.value(each.value) for each in node.keywords if each.arg is not None}
        if len(keywords) < len(node.keywords):
            self._refuse(node, "has ** in it: write the arguments")
        try:
            return function(*arguments, **keywords)
        except (TypeError, ValueError, OverflowError, LookupError, OSError) as error:
            # Such as `days` with one argument, or a zone that does not exist.
            self._refuse(node, str(error), is_shown=False)

    def _function(self, node: ast.expr) -> Callable[..., Any]:
        """The function of a call: one of ours, a date, or a method of `col`."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            owner = self.value(node.value)
            if isinstance(owner, Column) and node.attr in _METHODS:
                method: Callable[..., Any] = getattr(owner, node.attr)
                return method
            advice = did_you_mean(node.attr, _METHODS) or f": a column has {', '.join(_METHODS)}"
            self._refuse(node, f"is not one of the methods of col(name){advice}")
        name = _MODULES.sub("", ast.unparse(node))
        if name not in _CALLS:
            self._refuse(node, f"is not one of {_NAMES}{did_you_mean(name, _CALLS)}")
        return _CALLS[name]

    def _refuse(self, node: ast.expr, problem: str, *, is_shown: bool = True) -> NoReturn:
        # Python counts bytes.
        column = len(self._lines[node.lineno - 1].encode()[: node.col_offset].decode())
        shown = f"{cut(ast.unparse(node))} " if is_shown else ""
        raise ValueError(f"{self.place(node.lineno, column)}: {shown}{problem}")


def cut(text: str) -> str:
    """The beginning of a text, for an error."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
