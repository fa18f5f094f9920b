"""Who has nothing but SQL gets no token: options choose among what the environment of Spark allows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

pytestmark = pytest.mark.timeout(400)

DAY = "allocated_time \"on('2024-01-15')\", attrs 'id'"


def rows(spark: Any, options: str) -> int:
    """How many rows a view with these options has."""
    spark.sql(f"create or replace temporary view of_options using dataaccess options ({DAY}{options})")
    return int(spark.sql("select count(*) from of_options").collect()[0][0])


def test_an_address_that_only_the_query_names_gets_no_request(spark: Any, stranger: da.Sandbox, token: str) -> None:
    from pyspark.errors import AnalysisException

    for address in (stranger.base_url, "{}\\\\@{}".format(*[stranger.base_url] * 2)):
        with pytest.raises(AnalysisException, match=r"DATAACCESS_SPARK_ALLOW_HOSTS|backslash") as caught:
            rows(spark, f", base_url '{address}'")
        assert token not in str(caught.value)
    assert stranger.requests == []


def test_a_host_of_the_list_gets_a_token_of_its_own_alone(spark: Any, other: da.Sandbox, allowed: Path) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match=rf"\bConfigError: token\b.*\b{other.base_url}\b"):
        rows(spark, f", base_url '{other.base_url}'")
    assert other.requests == []
    allowed.write_text(other.issue_token(["item"]))
    allowed.chmod(0o600)
    assert rows(spark, f", base_url '{other.base_url}', token_file '{allowed}'") == 73


@pytest.mark.parametrize(
    "option", ["token_file '/etc/hostname'", "token_callable 'getpass:getuser'", "token_callable 'json.tool:main'"]
)
def test_no_other_file_or_function_is_sent(spark: Any, service: da.Sandbox, option: str) -> None:
    from pyspark.errors import AnalysisException

    service.clear_requests()
    with pytest.raises(AnalysisException, match=r"\bDATAACCESS_SPARK_ALLOW_TOKEN_(FILES|CALLABLES)\b"):
        rows(spark, f", {option}")
    assert service.requests == []


@pytest.mark.usefixtures("spark")
def test_the_token_file_of_the_environment_is_for_its_address_alone(
    service: da.Sandbox, token: str, stranger: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, as another environment would need another session."""
    from pyspark.sql.types import StringType, StructField, StructType

    from dataaccess.spark import DataAccessSource

    path = tmp_path / "token"
    path.write_text(token)
    path.chmod(0o600)
    for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DATAACCESS_BASE_URL", service.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(path))
    monkeypatch.setenv("DATAACCESS_SPARK_ALLOW_HOSTS", stranger.base_url)
    options = {"allocated_time": "on('2024-01-15')", "attrs": "id"}
    reader = DataAccessSource(options).reader(StructType([StructField("id", StringType())]))
    [partition] = reader.partitions()
    assert sum(batch.num_rows for batch in reader.read(partition)) == 73

    with pytest.raises(da.ConfigError, match=rf"^token\b.*\b{stranger.base_url}\b") as caught:
        DataAccessSource({**options, "base_url": stranger.base_url})
    assert token not in str(caught.value)
    assert stranger.requests == []
