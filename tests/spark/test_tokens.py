"""Who has nothing but SQL gets no token: no option names a service or a token."""

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
        with pytest.raises(AnalysisException, match=r"ValidationError: base_url: .*\bDATAACCESS_BASE_URL\b") as caught:
            rows(spark, f", base_url '{address}'")
        assert token not in str(caught.value)
        assert stranger.base_url not in str(caught.value).partition("JVM")[0]
    assert stranger.requests == []


@pytest.mark.parametrize("name", ["token", "token_file", "profile", "proxy", "ca_bundle", "allow_http", "headers"])
def test_what_the_environment_of_spark_decides_is_no_option(spark: Any, service: da.Sandbox, name: str) -> None:
    from pyspark.errors import AnalysisException

    service.clear_requests()
    with pytest.raises(AnalysisException, match=rf"ValidationError: {name}: .*\bDATAACCESS_{name.upper()}\b"):
        rows(spark, f", {name} '/etc/hostname'")
    assert service.requests == []


@pytest.mark.usefixtures("spark")
def test_the_token_file_of_the_environment_is_read(
    service: da.Sandbox, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    options = {"allocated_time": "on('2024-01-15')", "attrs": "id"}
    reader = DataAccessSource(options).reader(StructType([StructField("id", StringType())]))
    [partition] = reader.partitions()
    assert sum(batch.num_rows for batch in reader.read(partition)) == 73
