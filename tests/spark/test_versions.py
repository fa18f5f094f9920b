"""Versions of Spark: those without data sources in Python are refused in words."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


@pytest.mark.parametrize("version", ["3.5.8", "3.4.0"])
def test_an_old_spark_is_refused_in_words(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    import dataaccess.spark

    old = ModuleType("pyspark")
    old.__version__ = version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspark", old)
    with pytest.raises(ImportError, match=rf"\b4\.0\b.*\b{version}"):
        dataaccess.spark.DataAccessSource  # noqa: B018 - the import is what is tested
