"""The options of the Spark data source and the times of its columns, without Spark."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.arguments import about

import dataaccess as da
from dataaccess.spark._columns import Columns, SparkColumn
from dataaccess.spark._options import _words, checked, client_of, scan_of
from dataaccess.spark._tasks import batches

pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")

DEMO = {"base_url": "sandbox:demo?until=2024-02-29"}
DAY = {"allocated_time": "on('2024-01-15')"}


def test_a_list_is_words_or_a_list_of_python() -> None:
    assert _words("id, pool_id") == _words("['id', 'pool_id']") == _words(json.dumps(["id", "pool_id"]))
    assert checked({**DAY, "code_status": "sent,4"})["code_status"] == ["sent", 4]
    # An id is a string, even of digits.
    assert checked({**DAY, "allocated_audience": "17,042"})["allocated_audience"] == ["17", "042"]


@pytest.mark.parametrize(
    ("options", "argument", "datum"),
    [
        ({**DAY, "code_stat": "sent"}, "code_stat", "'code_status'"),
        ({"AllocatedTime": "x"}, "allocatedtime", "'allocated_time'"),
        ({**DAY, "object": "customer"}, "object", "item_type_name"),
        ({**DAY, "limit": "3"}, "limit", "DataFrame.limit(n)"),
        ({"since": "2024-01-01"}, "since", "there are allocated_audience, allocated_time, "),
        ({**DAY, "where": "{}"}, "where", "where: "),
        ({"item_type_name": "customer", "code_status": "sent"}, "code_status", "code_status: "),
        ({"allocated_time": "on(2024-01-15)"}, "allocated_time", "'on(2024-01-15)': character 9: "),
        ({"allocated_time": "2024-01-15"}, "allocated_time", " on('2024-01-15')"),
        ({"item_type_name": "customer", "where": "customer_id = '17'"}, "where", " col('id').equals("),
        ({"item_type_name": "customer", "where": "Column<'=(id, 17)'>"}, "where", " da.col('customer_id').equals("),
        ({"item_type_name": "customer", "where": "{"}, "where", "'{' "),
        ({"item_type_name": "customer", "where": '{"a":' * 5_000}, "where", " JSON"),
        (
            {"item_type_name": "customer", "attrs": "a", "where": '{"a":' * 500 + "1" + "}" * 500},
            'where["a"] where["OR"]',
            '"a" ',
        ),
        ({"item_type_name": "customer", "where": f"col('a').matches([{'1,' * 40_000}1])"}, "where", " 80,021 "),
        ({**DAY, "settle": "3600"}, "settle", "Spark"),
        ({}, "allocated_time", ' days("2024-01-01", "2024-04-01")'),
        ({"cod_status": "sent", "alocated_time": "x"}, "cod_status alocated_time", " 1 more (alocated_time)"),
    ],
)
def test_a_wrong_option_is_an_error_that_says_what_to_write(options: dict[str, str], argument: str, datum: str) -> None:
    with pytest.raises(da.ValidationError, match=re.escape(datum), check=about(*argument.split())):
        scan_of(checked({**DEMO, **options}), None, None)


@pytest.mark.parametrize("name", ["token", "headers", "proxy", "Token", "tokens", "base_url"])
def test_a_secret_is_refused_and_not_shown(name: str) -> None:
    with pytest.raises(da.ValidationError) as caught:
        checked({**DAY, name: "tok-secret"})
    shown = "".join([repr(caught.value), *caught.value.__notes__] if hasattr(caught.value, "__notes__") else [])
    assert "tok-secret" not in f"{shown}{caught.value}{caught.value.problems}"


def test_the_address_of_the_driver_travels_and_the_token_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-secret-of-the-driver")
    pickled = pickle.dumps(scan_of(checked(DAY), None, None).tasks())
    assert b"tok-secret" not in pickled

    monkeypatch.delenv("DATAACCESS_BASE_URL")
    monkeypatch.delenv("DATAACCESS_TOKEN")
    with pytest.raises(da.ConfigError, match=r"\bDATAACCESS_TOKEN\b", check=about("token")):
        pickle.loads(pickled)
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-of-the-executor")
    assert pickle.loads(pickled)[0].requests()[0]["url"].startswith("https://cdp.example.com/")


def test_settings_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(da.ConfigError, check=about("base_url", "token")):
        client_of({})
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    with pytest.raises(da.ConfigError, match=r"\bsession\b", check=about("token")):
        client_of({})


TOKENS = [{"DATAACCESS_TOKEN": "tok-of-the-platform"}, {"DATAACCESS_TOKEN_FILE": "/run/secrets/tok-of-the-platform"}]


@pytest.mark.parametrize("environment", TOKENS)
@pytest.mark.parametrize(
    "address", ["https://evil.example.com", "http://cdp.example.com", "https://cdp.example.com", r"https://evil\@cdp"]
)
def test_a_query_names_no_address(address: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**environment, "DATAACCESS_BASE_URL": "https://cdp.example.com"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(da.ValidationError, match=r"\bDATAACCESS_BASE_URL\b", check=about("base_url")) as caught:
        client_of(checked({**DAY, "base_url": address}))
    assert address not in str(caught.value)
    assert "tok-" not in str(caught.value)


@pytest.mark.parametrize("name", ["token_file", "token_callable", "ca_bundle", "profile", "timeout"])
def test_what_the_environment_decides_is_no_option(name: str) -> None:
    with pytest.raises(da.ValidationError, check=about(name)):
        checked({**DAY, name: "/etc/passwd"})


# The times of Spark's columns: instants for `timestamp`, and times as the service wrote them for `timestamp_ntz`.


COLUMNS = Columns((SparkColumn("id", "string"), SparkColumn("at", "timestamp"), SparkColumn("wall", "timestamp_ntz")))
# A time as the service writes it, and its instant.
BERLIN = {
    "1890-01-01 00:00:00": "1889-12-31 23:06:32",
    "1893-04-01 00:03:00": "1893-03-31 23:06:32",
    "1945-05-24 12:00:00": "1945-05-24 09:00:00",
    "2024-03-31 02:30:00": "2024-03-31 01:00:00",
    "2024-10-27 02:30:00": "2024-10-27 00:30:00",
    "2037-12-31 12:00:00": "2037-12-31 11:00:00",
    "2090-07-01 12:00:00": "2090-07-01 10:00:00",
    "2500-07-01 12:00:00": "2500-07-01 10:00:00",
    "9999-12-31 23:59:59": "9999-12-31 22:59:59",
}


@contextmanager
def visits(times: list[str], zone: str, split: Any = "warn") -> Iterator[da.Scan]:
    """A scan of rows with these times, of a service that writes them in this zone."""
    with da.Sandbox() as sandbox:
        sandbox.declare("visit", 7, {"id": "string", "at": "datetime", "wall": "datetime"})
        sandbox.load("visit", [{"id": f"{n:05}", "at": time, "wall": time} for n, time in enumerate(times)])
        schema: Any = {"at": "timestamp", "wall": "timestamp"}
        client = sandbox.client(source_timezone=zone, timezone="Asia/Tokyo")
        attrs = ["id", "at", "wall"]
        yield client.scan_items("visit", attrs, item_type_id=7, schema=schema, on_suspected_cap=split)


def rows_of(scan: da.Scan) -> list[dict[str, Any]]:
    (task,) = scan.tasks()
    return [row for batch in batches(task, COLUMNS) for row in batch.to_pylist()]


@pytest.mark.parametrize("split", ["warn", "split"])
def test_instants_are_right_in_every_year(split: str) -> None:
    with visits(list(BERLIN), "Europe/Berlin", split) as scan:
        rows = rows_of(scan)
    assert [row["wall"] for row in rows] == [datetime.fromisoformat(time) for time in BERLIN]
    assert [row["at"] for row in rows] == [datetime.fromisoformat(f"{time}+00:00") for time in BERLIN.values()]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Pacific/Apia", "Africa/Casablanca", "UTC"])
def test_instants_are_those_of_a_scan(zone: str) -> None:
    years = (1800, 1900, 1947, 2011, 2024, 2038, 2100, 9000)
    begins = [f"{year}-{month}-01" for year in years for month in ("01", "07")]
    changes = ["2024-03-31", "2011-12-29 12:00", "2024-11-03"]
    times = [
        datetime.fromisoformat(begin) + timedelta(minutes=30 * step)
        for begin in (*begins, *changes)
        for step in range(12)
    ]
    with visits([f"{time:%Y-%m-%d %H:%M:%S}" for time in times], zone) as scan:
        assert [row["at"] for row in rows_of(scan)] == scan.collect(tz="UTC")["at"]
