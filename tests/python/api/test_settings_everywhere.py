"""Each setting from each source: argument, variable, profile, connection of Airflow and option of Spark.

A value that cannot be used is a `ConfigError` about the setting, with its source and without a secret.
"""

from __future__ import annotations

import fractions
import json
import os
import pickle
import traceback
from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.arguments import about
from support.profiles import Config
from support.profiles import value as toml

import dataaccess as da
from dataaccess._client.settings import SETTINGS
from dataaccess._core.secret import Secret
from dataaccess.airflow.connection import client_arguments
from dataaccess.spark._options import checked, client_of

CLASSES = [da.Client, da.AsyncClient]
ADDRESS = "https://cdp.example.com"
SERVICE: dict[str, Any] = {"base_url": ADDRESS, "token": "tok"}
OF_SPARK = ("timezone", "source_timezone", "day_comparison", "known_row_cap", "retry_for")

# Texts that say a value, and the value.
TEXTS: dict[str, list[tuple[str, Any]]] = {
    "timezone": [("Asia/Ho_Chi_Minh", "Asia/Ho_Chi_Minh"), ("Etc/GMT-7", "Etc/GMT-7"), ("UTC", "UTC")],
    "source_timezone": [("Europe/Berlin", "Europe/Berlin")],
    "day_comparison": [("exclusive", "exclusive"), ("inclusive", "inclusive"), ("exclusive", "exclusive")],
    "timeout": [("5m", 300.0), (" 90 ", 90.0), ("1.5 m", 90.0), ("2h", 7200.0), ("1d", 86_400.0), ("12s", 12.0)],
    "retry_for": [("1.5h", 5400.0), ("0", 0.0), ("21", 21.0)],
    "concurrency": [("3", 3), ("4", 4), ("5", 5)],
    "requests_per_second": [("0.5", 0.5)],
    "max_result_bytes": [("1000", 1000)],
    "allow_http": [("0", False), ("True", True), ("1", True), ("true", True)],
    "item_types": [('{"store": 7}', {"store": 7}), ('{"b": 2}', {"b": 2}), ('{"c": 3}', {"c": 3})],
    "headers": [('{"X-A": "b"}', {"X-A": "b"}), ('{"X-B": "2"}', {"X-B": "2"}), ('{"X-C": "3"}', {"X-C": "3"})],
    "user_agent": [(text, text) for text in ("nightly-job/3", "job/3 (team data)", "b/2")],
    "known_row_cap": [("10000", 10_000), ("6", 6), ("7", 7)],
    "attrs_format": [("string", "string"), ("array", "array"), ("string", "string")],
    "code_value_type": [("normal", "normal")],
    "proxy": [("http://user:hunter2@proxy:3128", "proxy:3128"), ("http://b:2", "b:2"), ("http://c:3", "c:3")],
}
# Texts of no value.
WRONG_TEXTS: dict[str, list[str]] = {
    "timezone": ["Europe/Atlantis", "UTC+7", "+07:00", "utc +0200", "UTC+05:30", "+25"],
    "source_timezone": ["Hanoi", "GMT-3"],
    "day_comparison": ["instants"],
    "timeout": ["0", "-1", "soon", "nan"],
    "retry_for": ["-1", "soon"],
    "concurrency": ["0", "2.5", "many", "9" * 30],
    "requests_per_second": ["0", "fast"],
    "max_result_bytes": ["0", "1.5"],
    "allow_http": ["yes", "2"],
    "item_types": ['{"store": "7"}', "store", "[]"],
    "headers": ['{"Authorization": "hunter2"}', "X-Key: hunter2", '{"Accept-Encoding": "br"}', '["hunter2"]'],
    "user_agent": ["job/3\r\nX-A: b", "job\x7f", "jöb/3", " ", " job/3", "a" * 257],
    "known_row_cap": ["0", "many"],
    "attrs_format": ["csv"],
    "proxy": ["proxy.example.com", "ftp://user:hunter2@proxy"],
    "ca_bundle": ["/nowhere/ca.pem"],
}
# Arguments that are no value, beside the texts.
WRONG: dict[str, list[Any]] = {
    "base_url": [
        *(7, "cdp.example.com", "http://cdp.example.com", "ftp://cdp.example.com/a", "sandbox:other", "sandbox"),
        *("https//x", "nothing", "localhost:1", "https://[::1", "https://x:port", f"{ADDRESS}/access/api/item/search"),
        *("https://me:hunter2@cdp.example.com/a", "https://me:hun/hunter2@cdp.example.com:port"),
        *(f"{ADDRESS}/a?key=hunter2", f"{ADDRESS}/a#hunter2", "hunter2-hunter2-hunter2"),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2-hunter2-hunter2-hunter2",
    ],
    "token": [7, "", "tok-hunter2\n", "Bearer hunter2", "hunter2\udc80"],
    "timezone": [3, timezone(timedelta(hours=2))],
    "source_timezone": [3],
    "day_comparison": ["", None, True],
    "timeout": ["30", True, None, timedelta(0)],
    "retry_for": ["60", None],
    "concurrency": ["8", True, 2.5, 10**30],
    "requests_per_second": ["9", True],
    "max_result_bytes": [1.5],
    "allow_http": ["yes", 1],
    "item_types": [{"store": "7"}, {"customer": 3}, 5],
    "headers": [
        *({"X-A": 5}, {5: "hunter2"}, {"X-A": "a\r\nhunter2"}, {"Accept-Encoding": "gzip;q=1"}, ["X-Key: hunter2"]),
    ],
    "user_agent": [3, b"job/3", ""],
    "known_row_cap": [True, "3"],
    "attrs_format": [None],
    "proxy": [3128],
    "ca_bundle": [3, b"x", ""],
    "record": [3, b"x", ""],
}


def of_variable(kind: Any, name: str, text: str, _: Any) -> Any:
    with mock.patch.dict(os.environ, {SETTINGS[name].variable: text}):
        return kind(**SERVICE)


def of_profile(kind: Any, name: str, text: str, config: Config) -> Any:
    written = {"base_url": ADDRESS, "token": "tok", name: text}
    config.write("\n".join(["[profiles.p]", *(f"{key} = {toml(one)}" for key, one in written.items())]))
    return kind(profile="p")


def of_connection(kind: Any, name: str, text: str, _: Any) -> Any:
    fields = {"conn_id": "c", "conn_type": "dataaccess", "host": ADDRESS, "port": None, "schema": None, "login": None}
    connection: Any = SimpleNamespace(**fields, password="tok", extra=json.dumps({name: text}))
    return kind(**client_arguments(Secret(connection), {}, lambda: None))


def of_option(_: Any, name: str, text: str, __: Any) -> Any:
    with mock.patch.dict(os.environ, {"DATAACCESS_BASE_URL": ADDRESS, "DATAACCESS_TOKEN": "tok"}):
        return client_of(checked({name: text}))


SOURCES: dict[str, Callable[..., Any]] = {
    "environment variable": of_variable,
    "profile p in": of_profile,
    "argument": of_connection,
    "option": of_option,
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_says_a_value(name: str, source: str, kind: Any, config: Config) -> None:
    if source == "option" and (name not in OF_SPARK or kind is da.AsyncClient):
        return
    for text, value in TEXTS[name]:
        client = SOURCES[source](kind, name, text, config)
        assert client.settings[name].value == value
        assert client.settings[name].source.startswith("argument" if source == "option" else source)
        assert "hunter2" not in repr(client) + repr(client.settings) + repr(vars(client))


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", WRONG_TEXTS)
def test_a_text_of_no_value_is_refused_by_name_and_source(name: str, source: str, kind: Any, config: Config) -> None:
    if source == "option" and (name not in OF_SPARK or kind is da.AsyncClient):
        return
    for text in WRONG_TEXTS[name]:
        with pytest.raises(da.ConfigError) as caught:
            SOURCES[source](kind, name, text, config)
        assert_told(caught.value, name)
        ends = {
            "environment variable": f"(from {SETTINGS[name].variable})",
            "profile p in": f"(profile p in {config.path})",
        }
        assert ends.get(source, "") in str(caught.value)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", sorted(WRONG_TEXTS.keys() | WRONG.keys()))
def test_an_argument_of_no_value_is_refused_by_name(name: str, kind: Any, tmp_path: Path, monkeypatch: Any) -> None:
    # No path of the tests is of a file.
    monkeypatch.chdir(tmp_path)
    for value in (*WRONG.get(name, ()), *WRONG_TEXTS.get(name, ())):
        copied = partial(kind(**SERVICE).with_options, **{name: value})
        for make in (partial(kind, **{**SERVICE, name: value}), *([] if name == "token" else [copied])):
            with pytest.raises(da.ConfigError) as caught:
                make()
            assert name == "item_types" or about(name)(caught.value)
            assert_told(caught.value, name)
            assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems == [str(caught.value)]


def assert_told(error: da.ConfigError, name: str) -> None:
    """It names the setting, and neither it nor a frame of the package has a secret."""
    assert name in str(error)
    assert "hunter2" not in f"{error}{error!r}{vars(error)}"
    if name == "base_url":
        # Its own argument, whose secret is a mistake.
        return
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = [frame.locals for frame in shown.stack if frame.filename.startswith(str(Path(da.__file__).parent))]
    assert "hunter2" not in repr(ours)


@pytest.mark.parametrize("kind", CLASSES)
def test_all_settings_are_reported_together_whatever_is_wrong_with_each(kind: Any, tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    wrong = {name: values[0] for name, values in WRONG.items() if name != "record"} | {"ca_bundle": empty}
    with pytest.raises(da.ConfigError) as caught:
        kind(**wrong)
    found = caught.value.problems
    assert len(found) == len(wrong)
    assert [name for name in wrong if not any(line.startswith(name) for line in found)] == []
    del wrong["token"]
    with pytest.raises(da.ConfigError) as caught:
        kind(**SERVICE).with_options(**wrong)
    assert len(caught.value.problems) == len(wrong)


def test_all_that_the_environment_lacks_or_has_wrong_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(da.ConfigError, check=about("base_url", "token")):
        da.Client()
    monkeypatch.setenv("DATAACCESS_BASE_URL", "ftp://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere/ca.pem")
    with pytest.raises(da.ConfigError, check=about("base_url", "ca_bundle", "token")):
        da.search_codes(["id"], allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("kind", CLASSES)
def test_values_of_other_kinds_are_values(kind: Any) -> None:
    given: dict[str, Any] = {
        **{"timeout": np.float32(2), "retry_for": fractions.Fraction(1, 2), "concurrency": np.int64(3)},
        **{"known_row_cap": np.int8(1), "timezone": ZoneInfo("Europe/Berlin"), "source_timezone": UTC},
    }
    client = kind(**SERVICE, **given)
    shown = {name: client.settings[name].value for name in given}
    assert shown == {**given, "timezone": "Europe/Berlin", "source_timezone": "UTC"}
    assert client.with_options(timeout=timedelta(minutes=2)).settings["timeout"].value == 120.0
    assert (client.timezone, client.source_timezone, client.day_comparison) == ("Europe/Berlin", "UTC", "exclusive")


# Those with a value for an argument, one for a variable and one for a profile.
OF_THREE = [name for name, texts in TEXTS.items() if len(texts) > 2]


@given(chosen=st.dictionaries(st.sampled_from(OF_THREE), st.sets(st.integers(0, 2))), kind=st.sampled_from(CLASSES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_first_source_wins(config: Config, chosen: dict[str, set[int]], kind: Any) -> None:
    def values(source: int) -> dict[str, Any]:
        given = {name: TEXTS[name][source] for name, sources in chosen.items() if source in sources}
        # A proxy is shown without its password, so its text is the value.
        return {name: text if name == "proxy" else value for name, (text, value) in given.items()}

    arguments, profile = values(0), values(2)
    variables = {SETTINGS[name].variable: TEXTS[name][1][0] for name in values(1)}
    lines = [f"{name} = {toml(one)}" for name, one in {"base_url": ADDRESS, "token": "tok", **profile}.items()]
    # A mistake in another profile does not matter.
    config.write("\n".join(["[profiles.p]", *lines, "[profiles.other]", "timeuot = 3"]))
    with mock.patch.dict(os.environ, variables):
        found = kind(profile="p", **arguments).settings
    for name in OF_THREE:
        source = min(chosen.get(name, set()), default=None)
        if source is None:
            assert found[name].source == "default", name
            continue
        said = ("argument", f"environment variable {SETTINGS[name].variable}", f"profile p in {config.path}")
        assert found[name] == da.Setting(TEXTS[name][source][1], said[source]), name


def test_headers_of_the_environment_are_not_for_the_address_of_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_HEADERS", '{"X-Api-Key": "hunter2"}')
    for address, headers in ((None, None), (ADDRESS, {"X-Api-Key": "(hidden)"}), ("https://other.example.com", None)):
        if address is not None:
            monkeypatch.setenv("DATAACCESS_BASE_URL", address)
        assert of_connection(da.Client, "timeout", "5", None).settings["headers"].value == headers
