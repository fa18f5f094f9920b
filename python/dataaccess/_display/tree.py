"""The arguments of a refused request as a tree, in which the values that are wrong are marked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from reprlib import Repr
from typing import TYPE_CHECKING, TypeAlias

from dataaccess._display.text import cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    class Problem(Protocol):
        """What the tree shows of a problem."""

        @property
        def argument(self) -> str: ...
        @property
        def message(self) -> str: ...


_STEP = re.compile(r'^\w+|\[\d+\]|\["[^"]*"\]')
# Characters of a value, and elements of a list that is shown.
_MAX_VALUE = 60
_VALUES = Repr()
_VALUES.maxlist = _VALUES.maxtuple = _VALUES.maxset = _VALUES.maxdict = 6
_VALUES.maxlevel = 3
_VALUES.maxstring = _VALUES.maxother = 2 * _MAX_VALUE


# A line of the tree: for each level whether it goes on below; the label, the value and the problems. A plain tuple, as
# an exception that pickles has them.
Line: TypeAlias = tuple[list[bool], str, str, list[str]]


@dataclass
class _Node:
    label: str
    value: str = ""
    problems: list[str] = field(default_factory=list)
    children: dict[str, _Node] = field(default_factory=dict)


def steps(argument: str) -> list[str]:
    """The steps to a value: `code_status[1]` has the two `code_status` and `[1]`."""
    return _STEP.findall(argument)


def tree(
    arguments: Mapping[str, object],
    problems: Iterable[Problem],
    value_at: Callable[[list[str]], Any] | None = None,
) -> list[Line]:
    """The lines of a tree of arguments and of the problems at their places.

    `value_at` finds the value at some steps, or raises a LookupError. Without it, each argument of a problem is a root.
    """
    roots = {name: _Node(name, _shown(value)) for name, value in arguments.items()}
    for problem in problems:
        way = (steps(problem.argument) if value_at else []) or [problem.argument]
        node = roots.setdefault(way[0], _Node(way[0]))
        for depth, step in enumerate(way[1:], 2):
            node = node.children.setdefault(step, _node(step, way[:depth], value_at))
        node.problems.append(problem.message)
    return list(_lines(list(roots.values()), []))


def _node(step: str, way: list[str], value_at: Callable[[list[str]], Any] | None) -> _Node:
    try:
        return _Node(step, _shown(value_at(way)) if value_at else "")
    except LookupError:
        return _Node(step)


def _shown(value: object) -> str:
    return cell(_VALUES.repr(value), 2 * _MAX_VALUE)


def _lines(nodes: list[_Node], above: list[bool]) -> Iterator[Line]:
    for index, node in enumerate(nodes):
        # Steps that lead to one place only are one line.
        while len(node.children) == 1 and not node.problems and (child := next(iter(node.children.values()))).children:
            node = _Node(node.label + child.label, child.value, child.problems, child.children)
        goes_on = [*above, index < len(nodes) - 1]
        value = "" if node.children and len(node.value) > _MAX_VALUE else node.value
        yield goes_on, node.label, value, node.problems
        yield from _lines(list(node.children.values()), goes_on)


def tree_text(lines: Sequence[Line], mark: Callable[[str], str] = str) -> str:
    """The tree for a terminal; `mark` may color a problem."""
    shown = []
    for (*above, has_next), label, value, problems in lines:
        indent = "".join("│  " if goes_on else "   " for goes_on in above)
        shown.append(f"{indent}{'├─ ' if has_next else '└─ '}{label}{value and f' = {value}'}")
        below = indent + ("│  " if has_next else "   ")
        shown += [f"{below}{mark(f'✗ {problem}')}" for problem in problems]
    return "\n".join(shown)


def tree_html(lines: Sequence[Line]) -> str:
    """The tree for a notebook."""
    html, depth = [], 0
    for goes_on, label, value, problems in lines:
        level = len(goes_on)
        html.append("<ul>" if level > depth else "</li></ul>" * (depth - level) + "</li>")
        depth = level
        html.append(f"<li><code>{escape(label)}{value and f' = {escape(value)}'}</code>")
        html += [f'<div><span class="bad">✗ {escape(cell(problem, 1_000))}</span></div>' for problem in problems]
    return f'<div class="tree">{"".join(html)}{"</li></ul>" * depth}</div>'
