"""The options of the Spark data source, without Spark: their texts, and what is wrong with them."""

from __future__ import annotations

import json
import pickle
import re

import pytest
from support.arguments import about

import dataaccess as da
from dataaccess.spark._options import _words, checked, client_of, scan_of

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
