"""`items --days`: what can never work is refused before anything is sent, with what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

import dataaccess as da

CODES = "dataaccess: .* `dataaccess codes --days`"
EMPTY = "dataaccess: --days: "


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("promotion_code --days allocated_time=2024-01-01 2024-01-03", CODES),
        ("mine --item-type-id -100 --days allocated_time=2024-01-01 2024-01-03", CODES),
        ("promotion_code --since allocated_time=2024-01-01 --before allocated_time=2024-01-03", CODES),
        ("customer --days created=2024-02-01 2024-01-01", EMPTY),
        ("customer --days created=2024-02-01 2024-02-01", EMPTY),
    ],
)
def test_a_range_that_cannot_be_is_refused(run: Any, demo: da.Sandbox, words: str, data: str) -> None:
    before = len(demo.requests)
    ended = run("items", *words.split(), "--attrs", "id")
    assert (ended.code, ended.output) == (2, "")
    assert re.match(data, ended.reported)
    assert len(demo.requests) == before


def test_one_time_condition_of_codes_is_sent(run: Any, demo: da.Sandbox) -> None:
    words = ["--attrs", "id", "--on", "allocated_time=2024-01-01", "--limit", "1"]
    assert run("items", "promotion_code", *words).output == '{"id":"demo-code-00001"}\n'
    assert demo.requests
