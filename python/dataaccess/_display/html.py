"""HTML for notebooks, in light and dark themes: text inherits its color, accents are translucent.

Callers pass plain text, which is escaped here.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dataaccess._display.text import cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Terminal columns of a cell.
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
    """The result of `_repr_html_`."""
    return f'<div class="dataaccess">{_STYLE}{"".join(parts)}</div>'


def title(text: str, note: str = "") -> str:
    """The first line."""
    dim = f' <span class="dim">{escape(note)}</span>' if note else ""
    return f'<div><span class="title">{escape(cell(text, _MAX_TITLE))}</span>{dim}</div>'


def line(text: Value) -> str:
    """A line of text."""
    return f"<div>{inline(text)}</div>"


def inline(text: Value) -> str:
    """A text within a line."""
    if isinstance(text, Markup):
        return text.html
    return f'<span class="{text.kind}">{escape(text.text)}</span>' if isinstance(text, Mark) else escape(text)


def facts(rows: Iterable[tuple[str, Value | list[Value]]]) -> str:
    """A row for each name: its text, or several texts below each other."""
    shown = ""
    for name, value in rows:
        texts = "<br>".join(map(inline, value if isinstance(value, list) else [value]))
        shown += f'<tr><th class="dim">{escape(name)}</th><td class="wide">{texts}</td></tr>'
    return f'<table class="facts"><tbody>{shown}</tbody></table>'


def columns(types: Iterable[tuple[str, str]]) -> Markup:
    """Names of columns and their types."""
    span = '<span class="column">{} <span class="dim">{}</span></span>'
    return Markup("".join(span.format(escape(cell(name, _MAX_WIDTH)), escape(kind)) for name, kind in types))


def table(
    names: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[object]], numeric: Iterable[bool] = ()
) -> str:
    """Rows below names and, if there are any, types. A tooltip has the rest of a truncated cell."""
    kinds = [' class="number"' if number else "" for number in numeric] or [""] * len(names)
    below = [f'<br><span class="dim">{escape(kind)}</span>' for kind in types] or [""] * len(names)
    heads = (
        f"<th{kind}>{escape(cell(name, _MAX_WIDTH))}{more}</th>"
        for name, kind, more in zip(names, kinds, below, strict=True)
    )
    body = (f"<tr>{''.join(_cell(*pair) for pair in zip(row, kinds, strict=True))}</tr>" for row in rows)
    return f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _cell(value: object, kind: str) -> str:
    if value is None:
        return f'<td{kind}><span class="dim">null</span></td>'
    if isinstance(value, Mark):
        return f"<td{kind}>{inline(value)}</td>"
    whole, shown = cell(value, _MAX_TITLE), cell(value, _MAX_WIDTH)
    tooltip = f' title="{escape(whole)}"' if shown != whole else ""
    return f"<td{kind}{tooltip}>{escape(shown)}</td>"


def details(summary: str, content: str) -> str:
    """Content that opens with a click."""
    return f'<details><summary class="dim">{escape(summary)}</summary>{content}</details>'
