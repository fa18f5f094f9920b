"""Settings of a wrong type: one `ConfigError` names each with what was given and what is accepted."""

from __future__ import annotations

import fractions
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]
SERVICE: dict[str, Any] = {"base_url": "https://cdp.example.com", "token": "tok"}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"base_url": 7}, "base_url must be a string, not of type int"),
    ({"token": 7}, "token must be a string or a callable that returns one, not of type int"),
    ({"timezone": 3}, "timezone must be an IANA name or a ZoneInfo, not 3"),
    ({"source_timezone": 3}, "source_timezone must be an IANA name or a ZoneInfo, not 3"),
    ({"source_timezone": "Hanoi"}, 'source_timezone must be an IANA time zone, not "Hanoi"'),
    ({"timeout": "30"}, "timeout must be a number of seconds or a timedelta, not '30'"),
    ({"timeout": True}, "timeout must be a number of seconds or a timedelta, not True"),
    ({"timeout": None}, "timeout must be a number of seconds or a timedelta, not None"),
    ({"retry_for": "60"}, "retry_for must be a number of seconds or a timedelta, not '60'"),
    ({"retries": "3"}, "retries must be an integer from 0 to 10000, or None, not '3'"),
    ({"retries": 10**30}, f"retries must be an integer from 0 to 10000, or None, not {10**30}"),
    ({"concurrency": "8"}, "concurrency must be an integer from 1 to 10000, or None, not '8'"),
    ({"concurrency": True}, "concurrency must be an integer from 1 to 10000, or None, not True"),
    ({"concurrency": 2.5}, "concurrency must be an integer from 1 to 10000, or None, not 2.5"),
    ({"requests_per_second": "9"}, "requests_per_second must be a number from 0.001 to 1000000, or None, not '9'"),
    ({"max_response_bytes": "1 GB"}, "max_response_bytes must be an integer of at least 1, not '1 GB'"),
    ({"max_result_bytes": 1.5}, "max_result_bytes must be an integer of at least 1, or None, not 1.5"),
    ({"max_buffered_bytes": None}, "max_buffered_bytes must be an integer of at least 1, not None"),
    ({"ca_bundle": 3}, "ca_bundle must be a path, not 3"),
    ({"proxy": 3128}, "proxy must be a string, not of type int"),
    ({"allow_http": "yes"}, "allow_http must be True or False, not 'yes'"),
    ({"headers": {"X-A": 5}}, "headers must have strings as names and values: the value of 'X-A' is of type int"),
    ({"headers": {5: "hunter2"}}, "headers must have strings as names and values: a name is of type int"),
    ({"item_types": {"store": "7"}}, "item_types['store'] must be an integer from"),
    ({"strict_empty": 1}, "strict_empty must be True or False, not 1"),
]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("options", "message"), WRONG)
def test_a_setting_of_another_type_is_refused_by_name(kind: Any, options: dict[str, Any], message: str) -> None:
    makers: list[Any] = [lambda: kind(**{**SERVICE, **options})]
    if "token" not in options:
        makers.append(lambda: kind(**SERVICE).with_options(**options))
    for make in makers:
        with pytest.raises(da.ConfigError) as caught:
            make()
        assert str(caught.value).startswith(message)
        assert [line.startswith(message) for line in caught.value.problems] == [True]
        assert "hunter2" not in str(caught.value)


def test_all_settings_are_reported_together_whatever_is_wrong_with_each(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    wrong: dict[str, Any] = {
        "base_url": "cdp.example.com", "token": 7, "timezone": 3, "source_timezone": 3, "timeout": "30",
        "retry_for": -1, "retries": "3",
        "concurrency": True, "ca_bundle": empty, "headers": {"Accept-Encoding": "br"}, "strict_empty": "no",
    }  # fmt: skip
    named = {"ca_bundle": str(empty)}
    with pytest.raises(da.ConfigError) as caught:
        da.Client(**wrong)
    assert len(caught.value.problems) == len(wrong)
    for name in wrong:
        assert any(named.get(name, f"{name} ") in line for line in caught.value.problems), name
    del wrong["token"]
    with pytest.raises(da.ConfigError) as caught:
        da.Client(**SERVICE).with_options(**wrong)
    assert len(caught.value.problems) == len(wrong)


def test_an_unreadable_ca_bundle_of_the_environment_is_listed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "ftp://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere/ca.pem")
    with pytest.raises(da.ConfigError) as caught:
        da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    found = ["`ftp://cdp.example.com`", "/nowhere/ca.pem", "token is not set"]
    assert [text in line for text, line in zip(found, caught.value.problems, strict=True)] == [True] * 3


def test_numbers_of_other_libraries_are_numbers() -> None:
    numbers: dict[str, Any] = {
        "timeout": np.float32(2),
        "retry_for": fractions.Fraction(1, 2),
        "concurrency": np.int64(3),
        "retries": np.int8(1),
    }
    client = da.Client(**SERVICE, **numbers)
    copy = client.with_options(timeout=timedelta(minutes=2), retry_for=0)
    assert [one._settings["timeout"] for one in (client, copy)] == [2.0, 120.0]
    assert [one._settings["concurrency"] for one in (client, copy)] == [3, 3]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("cdp.example.com", "`cdp.example.com`"),
        ("https//cdp.example.com", "`https//cdp.example.com`"),
        ("ftp://cdp.example.com/a", "`ftp://cdp.example.com/a`"),
        ("http://cdp.example.com", "`http://cdp.example.com`"),
        ("https://me:hunter2@cdp.example.com/a", "`https://…@cdp.example.com/a`"),
        ("https://me:hun/ter2@cdp.example.com:port", "`https://…@cdp.example.com:…`"),
        ("https://cdp.example.com/a?key=hunter2", "`https://cdp.example.com/a?…`"),
        ("https://cdp.example.com/a#hunter2", "`https://cdp.example.com/a#…`"),
        ("hunter2-hunter2-hunter2", None),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2-hunter2-hunter2-hunter2", None),
    ],
)
def test_a_base_url_that_is_refused_is_shown_without_secrets(address: str, shown: str | None) -> None:
    with pytest.raises(da.ConfigError) as caught:
        da.Client(address, token="tok")
    text = str(caught.value)
    assert "hunter2" not in text
    assert "ter2" not in text
    assert (shown in text) if shown else ("`" not in text)


@pytest.mark.parametrize("timeout", ["5", True, None])
def test_the_limit_of_waiting_is_a_number(client: Any, timeout: Any) -> None:
    with pytest.raises(da.ConfigError, match="timeout must be a number of seconds or a timedelta, not"):
        client.wait_for_segment(5637051, timeout=timeout)
    with pytest.raises(da.ConfigError, match="poll must be a number of seconds or a timedelta, not 'x'"):
        client.wait_for_segment(5637051, timeout=5, poll="x")
