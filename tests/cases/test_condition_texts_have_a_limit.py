"""A condition as text of more than 64 KiB, and filters nested too deeply, are refused at once with no RecursionError.

Source: a security review.
"""

from __future__ import annotations

import time

import pytest

import dataaccess as da
from dataaccess.cli import main

LONG = f"col('a').matches([{'1,' * 40_000}1])"
DEPTHS = [30, 300, 900, 5_000, 100_000]


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def test_a_long_text_is_refused_at_once() -> None:
    begun = time.monotonic()
    with pytest.raises(ValueError, match="65,536"):
        da.filters.parse(LONG)
    assert time.monotonic() - begun < 0.5
    ids = [f"demo-customer-{number:04}" for number in range(2_000)]
    assert repr(da.filters.parse(f"col('customer_id').matches({ids})")).startswith("col('customer_id')")


def test_the_command_refuses_a_long_condition(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["items", "customer", "--base-url", "sandbox:demo", "--where", LONG]) == 2
    assert "65,536" in capsys.readouterr().err


@pytest.mark.parametrize("levels", DEPTHS)
def test_the_command_refuses_deep_filters(levels: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["items", "customer", "--base-url", "sandbox:demo", "--where", deep(levels)]) == 2
    assert "RecursionError" not in capsys.readouterr().err


@pytest.mark.parametrize("levels", [30, 300, 900, 5_000])
def test_deep_filters_of_python_are_a_validation_error(sandbox: da.Sandbox, levels: int) -> None:
    where: object = 1
    for _ in range(levels):
        where = {"a": where}
    with pytest.raises(da.ValidationError):
        sandbox.client().search_items("customer", ["customer_id"], where=where)  # type: ignore[arg-type]
