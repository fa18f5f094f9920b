"""One Spark session for all tests, in this process, beside the sandbox with its demo data."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

import dataaccess as da

# In a process of Spark's as in this one: Python's own path, and the modules of the tests.
_PATH = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(Path(__file__).parent / "programs")])

# The loopback address, and this Python for the workers.
_LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost", "PYSPARK_PYTHON": sys.executable}
# For a JVM that lives for seconds.
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def pytest_configure(config: pytest.Config) -> None:
    """PySpark before 4.2 leaves the sockets of `collect` to the garbage collector."""
    if pyspark.__version__.startswith(("4.0.", "4.1.")):
        ignored = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
        config.addinivalue_line("filterwarnings", ignored)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test starts Spark."""
    for item in items:
        item.add_marker(pytest.mark.timeout(400))


@pytest.fixture(scope="session")
def service() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def token(service: da.Sandbox) -> str:
    """The token that Spark's processes find in their environment."""
    return service.issue_token(["item"])


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def stranger() -> Iterator[da.Sandbox]:
    """A service that the environment of Spark does not name."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def spark(service: da.Sandbox, token: str, events: Path) -> Iterator[Any]:
    """A session of two cores, which ends with the tests. Its zone is not UTC."""
    # The JVM is a child of this process: it and its Python workers have the environment of now.
    own = {"DATAACCESS_BASE_URL": service.base_url, "DATAACCESS_TOKEN": token, "PYTHONPATH": _PATH}
    os.environ |= {**_LOCAL, **own}
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", _QUICK_START)
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", events.as_uri())
        .config("spark.sql.session.timeZone", "Asia/Ho_Chi_Minh")
        .config("spark.ui.port", "0")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def read(spark: Any, service: da.Sandbox) -> Callable[..., Any]:
    """Reads with these options, and columns if they are given. The log of the service is empty."""
    service.clear_requests()

    def read(schema: str | None = None, **options: object) -> Any:
        reader = spark.read.format("dataaccess").options(**options)
        return (reader if schema is None else reader.schema(schema)).load()

    return read


@pytest.fixture
def client(service: da.Sandbox) -> da.Client:
    return service.client()
