"""HTML for notebooks, legible in light and dark themes: text inherits its color, accents are translucent.

Every string that comes from outside is escaped here, so callers pass plain text.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dataaccess._display.text import cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Characters of a cell.
_MAX_WIDTH = 60
_MAX_TITLE = 1_000

_STYLE = """\
<style>
.dataaccess { max-width: 100%; overflow-x: auto; line-height: 1.4; }
.dataaccess table { border-collapse: collapse; margin: .3em 0; }
.dataaccess th, .dataaccess td {
  padding: .2em .7em; text-align: left !important; vertical-align: top; white-space: nowrap;
}
.dataaccess thead th { border-bottom: 1px solid rgba(128, 128, 128, .6); }
.dataaccess .number { text-align: right !important; font-variant-numeric: tabular-nums; }
.dataaccess .wide { white-space: pre-wrap; overflow-wrap: anywhere; }
.dataaccess .facts tr { background: none !important; }
.dataaccess .facts th { padding-left: 0; }
.dataaccess .column { display: inline-block; margin-right: 1.2em; }
.dataaccess .dim { opacity: .65; font-weight: normal; font-size: .92em; }
.dataaccess .title { font-weight: bold; }
.dataaccess .tree ul {
  list-style: none; margin: 0 0 0 .4em; padding: 0 0 0 1.1em; border-left: 1px solid rgba(128, 128, 128, .5);
}
.dataaccess .tree > ul { margin-left: 0; }
.dataaccess .tree li { margin: .15em 0; }
.dataaccess .good, .dataaccess .busy, .dataaccess .doubt, .dataaccess .bad { border-radius: .3em; padding: .05em .4em; }
.dataaccess .good { background: rgba(46, 160, 67, .22); }
.dataaccess .busy { background: rgba(56, 139, 253, .22); }
.dataaccess .doubt { background: rgba(210, 153, 34, .28); }
.dataaccess .bad { background: rgba(248, 81, 73, .25); }
</style>"""


class Mark(NamedTuple):
    """A text with an accent: "good", "busy", "doubt" or "bad"; or "dim", "wide"."""

    text: str
    kind: str


class Markup(NamedTuple):
    """HTML that this module made."""

    html: str


Value: TypeAlias = str | Mark | Markup


def block(*parts: str) -> str:
    """Parts of HTML as what `_repr_html_` returns."""
    return f'<div class="dataaccess">{_STYLE}{"".join(parts)}</div>'


def title(text: str, note: str = "") -> str:
    """The first line: what it is."""
    dim = f' <span class="dim">{escape(note)}</span>' if note else ""
    return f'<div><span class="title">{escape(cell(text, _MAX_TITLE))}</span>{dim}</div>'


def line(text: Value) -> str:
    """A line of text."""
    return f"<div>{inline(text)}</div>"


def inline(text: Value) -> str:
    """A text within a line."""
    if isinstance(text, Markup):
        return text.html
    if isinstance(text, Mark):
        return f'<span class="{text.kind}">{escape(text.text)}</span>'
    return escape(text)


def facts(rows: Iterable[tuple[str, Value | list[Value]]]) -> str:
    """Names and what is known of each: a text, or several, one below the other."""
    shown = []
    for name, value in rows:
        values = value if isinstance(value, list) else [value]
        known = "<br>".join(inline(each) for each in values)
        shown.append(f'<tr><th class="dim">{escape(name)}</th><td class="wide">{known}</td></tr>')
    return f'<table class="facts"><tbody>{"".join(shown)}</tbody></table>'


def columns(types: Iterable[tuple[str, str]]) -> Markup:
    """Names of columns and their types."""
    spans = [
        f'<span class="column">{escape(cell(name, _MAX_WIDTH))} <span class="dim">{escape(kind)}</span></span>'
        for name, kind in types
    ]
    return Markup("".join(spans))


def table(
    names: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[object]], numeric: Iterable[bool] = ()
) -> str:
    """Rows under names and, if there are any, types. Long cells are cut, with the rest in the tooltip."""
    kinds = [' class="number"' if number else "" for number in numeric] or [""] * len(names)
    heads = []
    for index, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        below = f'<br><span class="dim">{escape(types[index])}</span>' if types else ""
        heads.append(f"<th{kind}>{escape(cell(name, _MAX_WIDTH))}{below}</th>")
    body = "".join(
        f"<tr>{''.join(_cell(value, kind) for value, kind in zip(row, kinds, strict=True))}</tr>" for row in rows
    )
    return f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object, kind: str) -> str:
    if value is None:
        return f'<td{kind}><span class="dim">null</span></td>'
    if isinstance(value, Mark):
        return f"<td{kind}>{inline(value)}</td>"
    whole = cell(value, _MAX_TITLE)
    shown = cell(value, _MAX_WIDTH)
    tooltip = f' title="{escape(whole)}"' if shown != whole else ""
    return f"<td{kind}{tooltip}>{escape(shown)}</td>"


def details(summary: str, content: str) -> str:
    """Content that opens with a click."""
    return f'<details><summary class="dim">{escape(summary)}</summary>{content}</details>'
