"""Who has nothing but SQL gets no token: options choose among what the environment of Spark allows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.spark_cluster import LOCAL, QUICK_START

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
        with pytest.raises(AnalysisException, match=r"DATAACCESS_SPARK_ALLOW_HOSTS|has a backslash") as caught:
            rows(spark, f", base_url '{address}'")
        assert token not in str(caught.value)
    assert stranger.requests == []


def test_a_host_of_the_list_gets_a_token_of_its_own_alone(spark: Any, other: da.Sandbox, allowed: Path) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match="is another; pass the option token_file or token_callable"):
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
    with pytest.raises(AnalysisException, match=r"is not in DATAACCESS_SPARK_ALLOW_TOKEN_(FILES|CALLABLES)"):
        rows(spark, f", {option}")
    assert service.requests == []


def test_the_token_file_of_the_environment_is_for_its_address_alone(
    service: da.Sandbox, token: str, stranger: da.Sandbox, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text(token)
    path.chmod(0o600)
    own = {"DATAACCESS_BASE_URL": service.base_url, "DATAACCESS_TOKEN_FILE": str(path)}
    # A session of its own, as its processes have another environment.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DATAACCESS_")}
    program = Path(__file__).parent / "programs" / "file_of_environment.py"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, program, stranger.base_url, QUICK_START],
        env=environment | LOCAL | own | {"DATAACCESS_SPARK_ALLOW_HOSTS": stranger.base_url},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    count, refused = done.stdout.strip().split("\n", 1)
    assert count == "73", done.stdout
    assert "is another; pass the option token_file or token_callable" in refused
    assert token not in done.stdout + done.stderr
    assert stranger.requests == []
