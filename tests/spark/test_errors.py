"""What is wrong is reported by the driver, readably, and before anything is sent where it can be."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PythonException

import dataaccess as da

Read = Callable[..., Any]


def lines_of(error: Any) -> list[str]:
    return [line for line in str(error).splitlines() if "dataaccess." in line]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"allocatd_time": "x"}, "dataaccess.ValidationError: allocatd_time: "),
        (
            {"allocated_time": da.on("2024-01-15"), "code_status": ["sennt"]},
            'dataaccess.ValidationError: code_status[0]: "sennt" ',
        ),
    ],
    ids=["option", "request"],
)
def test_load_reports_a_wrong_option_and_sends_nothing(
    read: Read, service: da.Sandbox, options: dict[str, object], line: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        read(**options)
    assert lines_of(caught.value)[-1].startswith(line)
    assert line in str(caught.value).splitlines()[0]
    assert service.requests == []


@pytest.mark.parametrize(
    ("schema", "argument", "advised"),
    [
        ("id string, pool_id float", 'schema["pool_id"]', "double"),
        ("id string, pool bigint", "attrs[1]", '"pool_id"'),
        # Such a column could not hold the values that are unset.
        ("pool_id bigint not null, id string", 'schema["pool_id"]', "NOT NULL"),
    ],
)
def test_a_wrong_column_fails_when_the_query_is_planned(
    read: Read, service: da.Sandbox, schema: str, argument: str, advised: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        read(schema, allocated_time=da.on("2024-01-15")).count()
    line = lines_of(caught.value)[-1]
    assert line.startswith(f"dataaccess.ValidationError: {argument}: ")
    assert advised in line
    # Spark drops the chain of this one, and all frames but one.
    assert any(f"dataaccess.ValidationError: {argument}: " in line for line in str(caught.value).splitlines()[:6])
    assert service.requests == []


def test_our_error_is_before_the_traceback_of_spark(read: Read, service: da.Sandbox) -> None:
    frame = read(allocated_time=da.on("2024-01-15"), retry_for=0)
    with service.fault("status", status=500, path="search"), pytest.raises(PythonException) as at_read:
        frame.collect()
    before, _, _ = str(at_read.value).partition("Traceback")
    assert re.search(r"\bdataaccess\.ServerError: scan_codes: .*\b2024-01-15: ", before)


def test_writing_says_that_it_cannot_write(read: Read, service: da.Sandbox, tmp_path: Path) -> None:
    frame = read(allocated_time=da.on("2024-01-15"))
    for mode in ("append", "overwrite"):
        with pytest.raises(AnalysisException) as caught:
            frame.write.format("dataaccess").mode(mode).save()
        assert "dataaccess.ConfigError: " in str(caught.value).splitlines()[0]
    with pytest.raises(AnalysisException, match=r"\bValidationError: path: "):
        frame.write.format("dataaccess").mode("append").save(str(tmp_path))
    assert service.requests == []


@pytest.mark.parametrize("version", ["3.5.8", "3.4.0"])
def test_an_old_spark_is_refused_in_words(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    import dataaccess.spark

    old = ModuleType("pyspark")
    old.__version__ = version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyspark", old)
    with pytest.raises(ImportError, match=rf"\b4\.0\b.*\b{version}"):
        dataaccess.spark.DataAccessSource  # noqa: B018 - the import is what is tested
