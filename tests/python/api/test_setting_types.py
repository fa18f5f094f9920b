"""Settings of a wrong type: one `ConfigError` names each with what was given and what is accepted."""

from __future__ import annotations

import fractions
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arguments import about

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]
SERVICE: dict[str, Any] = {"base_url": "https://cdp.example.com", "token": "tok"}

# With what the error shows of the value and of what is accepted.
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"base_url": 7}, " int$"),
    ({"token": 7}, r"\bcallable .* int$"),
    ({"timezone": 3}, r"\bZoneInfo, .* 3$"),
    ({"source_timezone": 3}, r"\bZoneInfo, .* 3$"),
    ({"source_timezone": "Hanoi"}, "Hanoi"),
    ({"timeout": "30"}, r"\btimedelta, .* '30'$"),
    ({"timeout": True}, r"\btimedelta, .* True$"),
    ({"timeout": None}, r"\btimedelta, .* None$"),
    ({"retry_for": "60"}, r"\btimedelta, .* '60'$"),
    ({"concurrency": "8"}, r"\b1 to 10000, .*\bNone, .* '8'$"),
    ({"concurrency": 10**30}, rf"\b1 to 10000, .*\bNone, .* {10**30}$"),
    ({"concurrency": True}, r"\b1 to 10000, .*\bNone, .* True$"),
    ({"concurrency": 2.5}, r"\b1 to 10000, .*\bNone, .* 2\.5$"),
    ({"requests_per_second": "9"}, r"\b0\.001 to 1000000, .*\bNone, .* '9'$"),
    ({"max_result_bytes": 1.5}, r" 1, .*\bNone, .* 1\.5$"),
    ({"ca_bundle": 3}, r"\bpath, .* 3$"),
    ({"proxy": 3128}, " int$"),
    ({"allow_http": "yes"}, r"\bTrue or False, .* 'yes'$"),
    ({"headers": {"X-A": 5}}, " 'X-A' .* int$"),
    ({"headers": {5: "hunter2"}}, " int$"),
    ({"item_types": {"store": "7"}}, " '7'$"),
]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("options", "shown"), WRONG)
def test_a_setting_of_another_type_is_refused_by_name(kind: Any, options: dict[str, Any], shown: str) -> None:
    makers: list[Any] = [lambda: kind(**{**SERVICE, **options})]
    if "token" not in options:
        makers.append(lambda: kind(**SERVICE).with_options(**options))
    (name,) = options
    argument = "item_types['store']" if name == "item_types" else name
    for make in makers:
        with pytest.raises(da.ConfigError, match=shown, check=about(argument)) as caught:
            make()
        assert caught.value.problems == [str(caught.value)]
        assert "hunter2" not in str(caught.value)


def test_all_settings_are_reported_together_whatever_is_wrong_with_each(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    wrong: dict[str, Any] = {
        "base_url": "cdp.example.com", "token": 7, "timezone": 3, "source_timezone": 3, "timeout": "30",
        "retry_for": -1, "known_row_cap": "3",
        "concurrency": True, "ca_bundle": empty, "headers": {"Accept-Encoding": "br"}, "attrs_format": "no",
    }  # fmt: skip
    with pytest.raises(da.ConfigError) as caught:
        da.Client(**wrong)
    assert len(caught.value.problems) == len(wrong)
    for name in wrong:
        assert any(line.startswith(name) for line in caught.value.problems), name
    del wrong["token"]
    with pytest.raises(da.ConfigError) as caught:
        da.Client(**SERVICE).with_options(**wrong)
    assert len(caught.value.problems) == len(wrong)


def test_an_unreadable_ca_bundle_of_the_environment_is_listed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "ftp://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere/ca.pem")
    with pytest.raises(da.ConfigError, check=about("base_url", "ca_bundle", "token")) as caught:
        da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    found = ["`ftp://cdp.example.com`", "/nowhere/ca.pem", "DATAACCESS_TOKEN"]
    assert [text in line for text, line in zip(found, caught.value.problems, strict=True)] == [True] * 3


def test_numbers_of_other_libraries_are_numbers() -> None:
    numbers: dict[str, Any] = {
        "timeout": np.float32(2),
        "retry_for": fractions.Fraction(1, 2),
        "concurrency": np.int64(3),
        "known_row_cap": np.int8(1),
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
    with pytest.raises(da.ConfigError, match=rf"\btimedelta, .* {timeout!r}$", check=about("timeout")):
        client.wait_for_segment(5637051, timeout=timeout)
    with pytest.raises(da.ConfigError, match=r"\btimedelta, .* 'x'$", check=about("poll")):
        client.wait_for_segment(5637051, timeout=5, poll="x")
