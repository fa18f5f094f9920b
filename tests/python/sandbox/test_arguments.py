"""Wrong arguments of a `Sandbox` are refused where they are written, by their names; and what the tokens may do."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dataaccess as da

SURROGATE = "\ud800"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"port": 99999}, "port must be an integer from 0 to 65535, not 99999"),
        ({"port": True}, "port must be an integer from 0 to 65535, not True"),
        ({"port": "80"}, "port must be an integer"),
        ({"switches": ["x"]}, "switches must be a dict of names and values, not of type list"),
        ({"switches": {5: "x"}}, "switches must be a string, not of type int"),
        ({"switches": {"day_zone": SURROGATE}}, r"switches\['day_zone'\] contains a lone surrogate"),
        ({"token": 5}, "token must be a string, not of type int"),
        ({"token": "0123456789abcdef" + SURROGATE}, "token contains a lone surrogate"),
        ({"allow_remote": "yes"}, "allow_remote must be True or False, not 'yes'"),
        ({"host_names": [5]}, r"host_names\[0\] must be a string"),
        ({"db": 5}, "db must be the path of a file, not of type int"),
        ({"db": b"data.db"}, "db must be the path of a file, not of type bytes"),
    ],
    ids=str,
)
def test_settings_are_checked_before_anything_starts(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(da.ConfigError, match=message):
        da.Sandbox(**arguments)
    if not arguments.keys() & {"allow_remote", "db"}:
        with pytest.raises(da.ConfigError, match=message):
            da.Sandbox.demo(**arguments)


def test_what_must_be_several_is_not_one() -> None:
    with pytest.raises(TypeError, match=r"host_names takes several strings: write host_names=\['a'\]"):
        da.Sandbox(host_names="a")
    with pytest.raises(TypeError, match="host_names takes several strings, not a value of type int"):
        da.Sandbox(host_names=5)  # type: ignore[arg-type]
    with pytest.raises(da.ConfigError, match="export_seconds must be a number of seconds"):
        da.Sandbox.demo(export_seconds="soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("declare", "a", 2**70, {"id": "string"}), "item_type_id must be an integer"),
        (("declare", "a", True, {"id": "string"}), "item_type_id must be an integer"),
        (("declare", "a", 8, [("id", "string")]), "attributes must be a dict of names and types, not of type list"),
        (("declare", SURROGATE, 8, {"id": "string"}), "name contains a lone surrogate"),
        (("declare", "a", 8, {SURROGATE: "string"}), "attributes contains a lone surrogate"),
        (("declare", "a", 8, {"id": 5}), r"attributes\['id'\] must be a string, not of type int"),
        (("load", 5, []), "name must be a string"),
        (("load", SURROGATE, []), "name contains a lone surrogate"),
        (("clear", 5), "name must be a string"),
        (("revoke", SURROGATE), "token contains a lone surrogate"),
        (("revoke", 5), "token must be a string, not of type int"),
        (("issue_token", [5]), r"scopes\[0\] must be a string"),
        (("issue_token", ["itme"]), "scopes: there is no `itme`; there are item, download"),
        (("fault", ["reset"]), r"kind must be one of 'reset', .* not \['reset'\]"),
    ],
    ids=str,
)
def test_arguments_of_the_methods_are_checked(sandbox: da.Sandbox, call: tuple[Any, ...], message: str) -> None:
    name, *arguments = call
    with pytest.raises(da.ConfigError, match=message):
        getattr(sandbox, name)(*arguments)


def test_options_that_are_not_what_they_should_be_are_named(sandbox: da.Sandbox) -> None:
    with pytest.raises(da.ConfigError, match="body contains a lone surrogate"):
        sandbox.fault("status", status=500, body=SURROGATE)
    with pytest.raises(da.ConfigError, match="replace must be True or False"):
        sandbox.load("customer", [], replace=1)  # type: ignore[arg-type]
    with pytest.raises(da.ConfigError, match="succeeds must be True or False"):
        sandbox.start_export(succeeds="no")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"rows must be an iterable of dicts, .* LazyFrame; collect\(\) the LazyFrame"):
        sandbox.load("customer", pl.LazyFrame({"customer_id": ["1"]}))


SCOPES = {"generic_scope": "crm.read", "download_scope": "seg"}


def everything_works(client: da.Client) -> None:
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    assert client.search_items("customer", ["customer_id"], da.col("customer_id").equals("demo-customer-0001"))
    assert client.download_segment(5637051)["code"] == 200


def test_the_services_own_tokens_have_the_scopes_that_switches_name() -> None:
    token = "a-token-of-my-own"
    with da.Sandbox.demo(until="2024-02-29", switches=SCOPES, token=token) as sandbox:
        assert sandbox.scopes == ["item", "download", "crm.read", "seg"]
        everything_works(sandbox.client())
        everything_works(da.Client(sandbox.base_url, token=token))
        everything_works(da.Client(sandbox.base_url, token=sandbox.issue_token()))
        with pytest.raises(da.PermissionDeniedError):
            sandbox.client(scopes=["item", "download"]).download_segment(5637051)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"opened": pd.NaT}, "attribute `opened`: is NaT; write None for what is unset"),
        ({"area": pd.NA}, "attribute `area`: is NA; write None for what is unset"),
        ({"store_id": pd.NA}, "attribute `store_id`: is NA; write None for what is unset"),
        ({"opened": np.datetime64("2024-01-01T00:00:00.000000001", "ns")}, "is not a time in whole seconds"),
        (
            {"opened": dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=9)))},
            "is outside the years 1 to 9999 in UTC",
        ),
    ],
    ids=str,
)
def test_values_that_are_none_are_reported(row: dict[str, Any], expected: str) -> None:
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"store_id": "string", "area": "number", "opened": "datetime"})
        with pytest.raises(da.SandboxError) as caught:
            sandbox.load("store", [{"store_id": "a", **row}])
    assert str(caught.value).startswith("object `store`, row 0: ")
    assert expected in str(caught.value)


def test_times_of_numpy_are_understood_in_any_unit() -> None:
    units = ["s", "ms", "us", "ns"]
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"store_id": "string", "opened": "datetime"})
        times = [np.datetime64("2024-01-01T05:00:00").astype(f"datetime64[{unit}]") for unit in units]
        rows = [{"store_id": unit, "opened": time} for unit, time in zip(units, times, strict=True)]
        sandbox.load("store", [*rows, {"store_id": "x", "opened": np.datetime64("NaT", "ms")}])
        found = sandbox.client().search_items("store", ["opened"], da.col("opened").on("2024-01-01"), item_type_id=7)
    assert found == [{"opened": "2024-01-01 05:00:00"}] * 4
