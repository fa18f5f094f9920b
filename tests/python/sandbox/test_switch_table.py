"""The table of docs/open-points.md has the switches of the sandbox, each with what it takes."""

from __future__ import annotations

import re

import pytest
from support.open_points import SWITCHES, TABLE

import dataaccess as da


def test_the_table_has_all_switches() -> None:
    with pytest.raises(da.SandboxError) as caught:
        da.Sandbox(switches={"zzzzzzzzzzzz": 1})
    assert set(str(caught.value).rpartition("there are ")[2].split(", ")) == SWITCHES


@pytest.mark.parametrize("name", sorted(SWITCHES))
def test_a_switch_takes_what_the_table_says(name: str) -> None:
    with da.Sandbox() as sandbox:
        with pytest.raises(da.SandboxError) as caught:
            sandbox.switch(**{name: []})
        assert str(caught.value).endswith(f"it takes {TABLE[name]}")
        for value in re.findall(r'"(\w+)"', TABLE[name]):
            sandbox.switch(**{name: value})
