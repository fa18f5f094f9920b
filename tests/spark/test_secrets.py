"""The token is nowhere that Spark shows or keeps: plans, the web UI, the event log, what processes print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import dataaccess as da

Read = Callable[..., Any]

pytestmark = pytest.mark.timeout(400)

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
    from pyspark.errors import PythonException

    with service.fault("expired_token"), pytest.raises(PythonException, match="PermissionDeniedError") as caught:
        read(allocated_time=da.on("2024-01-15")).count()
    printed = capfd.readouterr()
    assert token not in shown() + str(caught.value) + printed.out + printed.err


def test_an_option_with_a_token_is_refused_without_its_value(
    read: Read, shown: Callable[[], str], capfd: pytest.CaptureFixture[str]
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match=r"\bValidationError: token: ") as caught:
        read(allocated_time=da.on("2024-01-15"), token="tok-of-an-option")
    printed = capfd.readouterr()
    assert "tok-of-an-option" not in shown() + str(caught.value) + printed.out + printed.err
