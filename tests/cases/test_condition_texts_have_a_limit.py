"""A condition as text of more than 64 KiB, and filters nested too deeply, are refused at once with no RecursionError.

Source: a security review.
"""

from __future__ import annotations

import pytest

import dataaccess as da
from dataaccess.cli import main

LONG = f"col('a').matches([{'1,' * 40_000}1])"


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def test_a_long_text_is_refused_and_a_shorter_one_is_read() -> None:
    with pytest.raises(ValueError, match="65,536"):
        da.filters.parse(LONG)
    ids = [f"demo-customer-{number:04}" for number in range(2_000)]
    assert repr(da.filters.parse(f"col('customer_id').matches({ids})")).startswith("col('customer_id')")


@pytest.mark.parametrize("where", [LONG, *map(deep, (30, 300, 900, 5_000, 100_000))], ids=len)
def test_the_command_refuses_it(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["items", "customer", "--base-url", "sandbox:demo", "--where", where]) == 2
    assert "RecursionError" not in capsys.readouterr().err


@pytest.mark.parametrize("levels", [30, 300, 900, 5_000])
def test_deep_filters_of_python_are_a_validation_error(sandbox: da.Sandbox, levels: int) -> None:
    where: object = 1
    for _ in range(levels):
        where = {"a": where}
    with pytest.raises(da.ValidationError):
        sandbox.client().search_items("customer", ["customer_id"], where=where)  # type: ignore[arg-type]
