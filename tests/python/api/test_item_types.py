"""`item_types=` with attributes: objects that the user wrote down once, as the API lists none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from support.arguments import about
from support.profiles import Config

import dataaccess as da

STORE = {"store_id": "string", "opened": "timestamp", "size": "int64"}


@pytest.fixture(scope="module")
def service() -> Iterator[da.Sandbox]:
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"store_id": "string", "opened": "datetime", "size": "int64", "note": "string"})
        sandbox.load("store", [{"store_id": "s-1", "opened": "2024-01-15 08:00:00", "size": 3, "note": "x"}])
        yield sandbox


@pytest.fixture
def client(connect: Any, service: da.Sandbox) -> Any:
    return connect(service, item_types={"store": {"id": 7, "attributes": STORE}, "visit": 8})


def test_columns_have_the_declared_types_also_without_rows(client: Any) -> None:
    scan = client.scan_items("store", list(STORE), da.col("store_id").equals("s-1"))
    assert scan.schema == STORE
    nothing = client.scan_items("store", (name for name in STORE), da.col("store_id").equals("no such store"))
    found = scan.to_arrow().schema
    assert nothing.to_arrow().schema == found
    assert found.types == [pa.string(), pa.timestamp("us"), pa.int64()]
    assert client.scan_items("store", ["size"]).schema == {"size": "int64"}


def test_a_schema_of_the_call_wins(client: Any) -> None:
    scan = client.scan_items("store", ["opened", "size"], schema={"size": float})
    assert scan.schema == {"opened": "timestamp", "size": "float64"}
    assert scan.tasks()[0].schema == scan.schema


def test_an_object_with_another_id_is_another_object(client: Any) -> None:
    assert client.validate_items("store", ["anything"], item_type_id=70)["itemTypeId"] == 70


def test_the_attributes_of_an_object_can_be_listed(client: Any) -> None:
    assert client.attributes("store") == STORE
    assert client.attributes("promotion_code")["code_status"] == "int64"
    with pytest.raises(da.ConfigError, match=r" 'stoer' .* 'store'\?"):
        client.attributes("stoer")
    with pytest.raises(da.ConfigError, match=r"^[^?]* 'visit' [^?]*$"):
        client.attributes("visit")


def test_the_id_of_a_customer_need_not_be_written() -> None:
    item_types = {"customer": {"attributes": {"opened": "datetime"}}}
    client = da.Client("https://cdp.example.com", token="t", item_types=item_types)
    assert client.item_types == {"customer": {"id": -1003, "attributes": {"opened": "timestamp"}}}
    assert client.with_options(timeout=9).item_types == client.item_types
    assert client.scan_items("customer", ["opened"]).schema == {"opened": "timestamp"}


def test_a_profile_declares_attributes(config: Config) -> None:
    service = 'base_url = "https://cdp.example.com"\ntoken = "tok"\n'
    config.write(
        f"[profiles.default]\n{service}"
        '[profiles.default.item_types.store]\nid = 7\nattributes = { opened = "timestamp" }\n'
        f"[profiles.text]\n{service}"
        'item_types = \'{"store": {"id": 7, "attributes": {"opened": "timestamp"}}}\'\n'
        f"[profiles.wrong]\n{service}"
        '[profiles.wrong.item_types.store]\nid = 7\nattributes = { opened = "time" }\n'
    )
    for profile in (None, "text"):
        assert da.Client(profile=profile).attributes("store") == {"opened": "timestamp"}
    opened = "item_types['store']['attributes']['opened']"
    with pytest.raises(da.ConfigError, match=re.escape(f" (profile wrong in {config.path})"), check=about(opened)):
        da.Client(profile="wrong")


def test_a_time_zone_that_no_column_has_is_warned_of(connect: Any, service: da.Sandbox, client: Any) -> None:
    plain = connect(service, item_types={"store": 7}).scan_items("store", ["store_id", "opened"])
    for use in (plain.to_pandas, plain.to_polars, plain.collect, lambda tz: list(plain.batches(tz=tz))):
        with pytest.warns(da.DataAccessWarning, match=r"^tz='Asia/Tokyo' .*\btimestamp\b") as caught:
            use(tz="Asia/Tokyo")
        assert len(caught) == 1
    declared = client.scan_items("store", ["store_id", "opened"])
    assert declared.to_polars(tz="Asia/Tokyo")["opened"][0].hour == 17
    plain.to_pandas(tz=None)
