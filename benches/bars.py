"""A picture of bars as SVG, in groups whose first bar stands out. It knows nothing of benches."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

WIDTH, LABELS, ROW, GAP = 760, 190, 20, 34
STYLE = "font: 12px system-ui, sans-serif; fill: #1f2937"


def svg(title: str, groups: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Draws each group with a heading; all bars have one scale."""
    longest = max(value for bars in groups.values() for value in bars.values())
    parts, top = [], 40
    for heading, bars in groups.items():
        parts.append(f'<text x="16" y="{top + 14}" font-weight="600">{escape(heading)}</text>')
        top += 22
        for number, (name, value) in enumerate(bars.items()):
            length = max(1.0, value / longest * (WIDTH - LABELS - 90))
            colour = "#94a3b8" if number else "#ea580c"
            parts += [
                f'<text x="{LABELS - 8}" y="{top + 13}" text-anchor="end">{escape(name)}</text>',
                f'<rect x="{LABELS}" y="{top + 2}" width="{length:.1f}" height="{ROW - 5}" rx="2" fill="{colour}"/>',
                f'<text x="{LABELS + length + 6:.1f}" y="{top + 13}">{value:,.0f} {escape(unit)}</text>',
            ]
            top += ROW
        top += GAP - ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
        f'role="img" style="{STYLE}">'
        f"<title>{escape(title)}</title>"
        f'<rect width="{WIDTH}" height="{top}" rx="6" fill="#ffffff"/>'
        f'<text x="16" y="24" font-size="15" font-weight="600">{escape(title)}</text>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"
