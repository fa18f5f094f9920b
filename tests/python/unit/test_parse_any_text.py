"""`filters.parse` of any text: a condition that reads back, or a `ValueError` that says where the text is wrong."""

from __future__ import annotations

import re
import warnings

from hypothesis import example, given
from hypothesis import strategies as st

from dataaccess.filters import parse

WORDS = [
    *("col('a')", ".matches", ".equals", ".on", ".between", "on", "days", "op", "month", "last_days", "yesterday()"),
    *("datetime.date(2024, 1, 15)", "datetime.timedelta(", "ZoneInfo(", "timezone.utc", "da.", "datetime."),
    *("'2024-01-15'", "'a'", '"ü"', "1", "-1", "1e999", "0x1F", "1j", "b''", "f''", "None", "True", "..."),
    *("(", ")", "[", "]", "{", "}", ",", ":", "=", "*", "**", "&", "|", "~", "-", ".", "\\", "#", "'", '"'),
    *(" ", "\n", "\r", "\t", "\f", "\x1c", "\u2028", "\0", "\ufeff", "lambda", " if ", " for ", " in ", "not ", "x:="),
]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=25).map("".join)
PLACE = re.compile(r"character (\d+)")


def read(text: str) -> object:
    """The condition, or the error."""
    try:
        return parse(text)
    except ValueError as error:
        return error


@given(TEXTS | st.text())
@example("{[1]}")
@example("col('a').matches({[1]})")
@example("\f\n(x")
@example("('ü'\x0cx,\nü)")
@example("'\\d'")
def test_any_text_is_a_condition_or_says_where_it_is_wrong(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read(text)
    if isinstance(found, ValueError):
        assert type(found) is ValueError
        places = PLACE.findall(str(found).removeprefix(repr(text)))
        assert all(1 <= int(place) <= len(text) + 1 for place in places)
    else:
        assert repr(parse(repr(found))) == repr(found)
