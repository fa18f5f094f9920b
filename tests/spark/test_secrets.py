"""The token is nowhere that Spark shows or keeps, and no option names a service or a token."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql.types import StringType, StructField, StructType

import dataaccess as da
from dataaccess.spark import DataAccessSource

Read = Callable[..., Any]

PAGES = [
    "SQL/",
    "SQL/execution/?id=0",
    "environment/",
    "jobs/",
    "stages/",
    "stages/stage/?id=0&attempt=0",
    "executors/",
]
API = ["sql", "sql?details=true&planDescription=true", "environment", "jobs", "stages?details=true"]


@pytest.fixture
def shown(spark: Any, events: Path) -> Callable[[], str]:
    """All that the session shows and keeps."""

    def shown() -> str:
        address, app = spark.sparkContext.uiWebUrl, spark.sparkContext.applicationId
        pages = [f"{address}/{page}" for page in PAGES] + [
            f"{address}/api/v1/applications/{app}/{part}" for part in API
        ]
        texts = [urlopen(page).read().decode() for page in pages]
        logs = [path.read_text(encoding="utf-8", errors="replace") for path in events.rglob("*") if path.is_file()]
        assert logs
        return "".join([*texts, *logs])

    return shown


def test_no_page_and_no_log_has_the_token(
    read: Read, token: str, shown: Callable[[], str], capfd: pytest.CaptureFixture[str]
) -> None:
    frame = read(attrs="id", allocated_time=da.on("2024-01-15"))
    frame.explain("formatted")
    frame.explain(extended=True)
    assert frame.count() > 0
    assert token not in str(frame._jdf.queryExecution().toString())

    text, printed = shown(), capfd.readouterr()
    assert "BatchScan dataaccess" in text
    assert "dataaccess" in printed.out
    assert token not in text + printed.out + printed.err


def test_a_refused_token_is_not_shown(
    read: Read, service: da.Sandbox, token: str, shown: Callable[[], str], capfd: pytest.CaptureFixture[str]
) -> None:
    with service.fault("expired_token"), pytest.raises(PythonException, match="PermissionDeniedError") as caught:
        read(allocated_time=da.on("2024-01-15")).count()
    printed = capfd.readouterr()
    assert token not in shown() + str(caught.value) + printed.out + printed.err


def test_an_option_with_a_token_is_refused_without_its_value(
    read: Read, shown: Callable[[], str], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AnalysisException, match=r"\bValidationError: token: ") as caught:
        read(allocated_time=da.on("2024-01-15"), token="tok-of-an-option")
    printed = capfd.readouterr()
    assert "tok-of-an-option" not in shown() + str(caught.value) + printed.out + printed.err


DAY = "allocated_time \"on('2024-01-15')\", attrs 'id'"


def rows(spark: Any, options: str) -> int:
    """How many rows a view with these options has."""
    spark.sql(f"create or replace temporary view of_options using dataaccess options ({DAY}{options})")
    return int(spark.sql("select count(*) from of_options").collect()[0][0])


def test_an_address_that_only_the_query_names_gets_no_request(spark: Any, stranger: da.Sandbox, token: str) -> None:
    for address in (stranger.base_url, "{}\\\\@{}".format(*[stranger.base_url] * 2)):
        with pytest.raises(AnalysisException, match=r"ValidationError: base_url: .*\bDATAACCESS_BASE_URL\b") as caught:
            rows(spark, f", base_url '{address}'")
        assert token not in str(caught.value)
        assert stranger.base_url not in str(caught.value).partition("JVM")[0]
    assert stranger.requests == []


@pytest.mark.parametrize("name", ["token", "token_file", "profile", "proxy", "ca_bundle", "allow_http", "headers"])
def test_what_the_environment_of_spark_decides_is_no_option(spark: Any, service: da.Sandbox, name: str) -> None:
    service.clear_requests()
    with pytest.raises(AnalysisException, match=rf"ValidationError: {name}: .*\bDATAACCESS_{name.upper()}\b"):
        rows(spark, f", {name} '/etc/hostname'")
    assert service.requests == []


@pytest.mark.usefixtures("spark")
def test_the_token_file_of_the_environment_is_read(
    service: da.Sandbox, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, as another environment would need another session."""
    path = tmp_path / "token"
    path.write_text(token)
    path.chmod(0o600)
    for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DATAACCESS_BASE_URL", service.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(path))
    options = {"allocated_time": "on('2024-01-15')", "attrs": "id"}
    reader = DataAccessSource(options).reader(StructType([StructField("id", StringType())]))
    [partition] = reader.partitions()
    assert sum(batch.num_rows for batch in reader.read(partition)) == 73
