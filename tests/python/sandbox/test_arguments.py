"""Wrong arguments of a `Sandbox` are refused where they are written, by their names; and what the tokens may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from support.arguments import about

import dataaccess as da

SURROGATE = "\ud800"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"port": 99999}, "port"),
        ({"port": True}, "port"),
        ({"port": "80"}, "port"),
        ({"switches": ["x"]}, "switches"),
        ({"switches": {5: "x"}}, "switches"),
        ({"switches": {"day_zone": SURROGATE}}, "switches['day_zone']"),
        ({"token": 5}, "token"),
        ({"token": "0123456789abcdef" + SURROGATE}, "token"),
        ({"allow_remote": "yes"}, "allow_remote"),
        ({"host_names": [5]}, "host_names[0]"),
    ],
    ids=str,
)
def test_settings_are_checked_before_anything_starts(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(da.ConfigError, check=about(named)):
        da.Sandbox(**arguments)
    if not arguments.keys() & {"allow_remote"}:
        with pytest.raises(da.ConfigError, check=about(named)):
            da.Sandbox.demo(**arguments)


def test_what_must_be_several_is_not_one() -> None:
    with pytest.raises(TypeError, match=r"host_names=\['a'\]"):
        da.Sandbox(host_names="a")
    with pytest.raises(TypeError, match=r"^host_names .* int$"):
        da.Sandbox(host_names=5)  # type: ignore[arg-type]
    with pytest.raises(da.ConfigError, check=about("export_seconds")):
        da.Sandbox.demo(export_seconds="soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (("declare", "a", 2**70, {"id": "string"}), "item_type_id"),
        (("declare", "a", True, {"id": "string"}), "item_type_id"),
        (("declare", "a", 8, [("id", "string")]), "attributes"),
        (("declare", SURROGATE, 8, {"id": "string"}), "name"),
        (("declare", "a", 8, {SURROGATE: "string"}), "attributes"),
        (("declare", "a", 8, {"id": 5}), "attributes['id']"),
        (("load", 5, []), "name"),
        (("clear", 5), "name"),
        (("revoke", SURROGATE), "token"),
        (("revoke", 5), "token"),
        (("issue_token", [5]), "scopes[0]"),
        (("fault", ["reset"]), "kind"),
    ],
    ids=str,
)
def test_arguments_of_the_methods_are_checked(sandbox: da.Sandbox, call: tuple[Any, ...], named: str) -> None:
    name, *arguments = call
    with pytest.raises(da.ConfigError, check=about(named)):
        getattr(sandbox, name)(*arguments)


def test_options_that_are_not_what_they_should_be_are_named(sandbox: da.Sandbox) -> None:
    with pytest.raises(da.ConfigError, check=about("body")):
        sandbox.fault("status", status=500, body=SURROGATE)
    with pytest.raises(da.ConfigError, check=about("replace")):
        sandbox.load("customer", [], replace=1)  # type: ignore[arg-type]
    with pytest.raises(da.ConfigError, check=about("succeeds")):
        sandbox.start_export(succeeds="no")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^rows .* LazyFrame; collect\(\)"):
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


def test_times_of_numpy_are_understood_in_any_unit() -> None:
    units = ["s", "ms", "us", "ns"]
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"store_id": "string", "opened": "datetime"})
        times = [np.datetime64("2024-01-01T05:00:00").astype(f"datetime64[{unit}]") for unit in units]
        rows = [{"store_id": unit, "opened": time} for unit, time in zip(units, times, strict=True)]
        sandbox.load("store", [*rows, {"store_id": "x", "opened": np.datetime64("NaT", "ms")}])
        found = sandbox.client().search_items("store", ["opened"], da.col("opened").on("2024-01-01"), item_type_id=7)
    assert found == [{"opened": "2024-01-01 05:00:00"}] * 4
