"""Seed files: objects and rows of JSON, JSON lines, CSV and Parquet, and errors that name the file and the place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.arguments import about

import dataaccess as da

ATTRIBUTES = {"store_id": "string", "area": "float64", "opened": "timestamp", "is_open": "bool", "tags": "list"}
ROWS = [
    {"store_id": "s-1", "area": 2.5, "opened": "2024-01-15 08:00:00", "is_open": True, "tags": ["new", "big"]},
    {"store_id": "s-2", "area": 250, "opened": None, "is_open": False, "tags": []},
]
DECLARED = {"object": "store", "item_type_id": 7, "attributes": ATTRIBUTES}
CSV = """store_id,area,opened,is_open,tags
s-1,2.5,2024-01-15 08:00:00,true,"[""new"", ""big""]"
s-2,250,,False,[]
"""


@pytest.fixture
def sandbox() -> Iterator[da.Sandbox]:
    with da.Sandbox() as sandbox:
        yield sandbox


def stores(sandbox: da.Sandbox) -> list[dict[str, Any]]:
    found = da.col("store_id").matches(["s-1", "s-2", "s-3"])
    return sandbox.client().search_items("store", list(ATTRIBUTES), found, item_type_id=7)


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    if isinstance(content, pl.DataFrame):
        content.write_parquet(path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_json_seed_declares_its_object_and_has_its_rows(sandbox: da.Sandbox, tmp_path: Path) -> None:
    seed = {**DECLARED, "rows": ROWS}
    assert sandbox.seed(written(tmp_path, "shop.json", seed)) == 2
    assert stores(sandbox) == ROWS


def test_a_json_file_has_several_objects(sandbox: da.Sandbox, tmp_path: Path) -> None:
    people = {"object": "customer", "rows": [{"customer_id": "17"}]}
    assert sandbox.seed(written(tmp_path, "shop.json", [{**DECLARED, "rows": ROWS}, people])) == 3
    assert stores(sandbox) == ROWS


FILES = {
    "stores.csv": CSV,
    "marked.csv": "\ufeff" + CSV,
    "stores.jsonl": "\n".join(map(json.dumps, ROWS)) + "\n\n",
    "stores.json": ROWS,
    "stores.parquet": pl.DataFrame(ROWS),
}


@pytest.mark.parametrize("name", FILES)
def test_rows_come_from_a_file_beside_the_seed(sandbox: da.Sandbox, tmp_path: Path, name: str) -> None:
    written(tmp_path, name, FILES[name])
    sandbox.seed(written(tmp_path, "shop.json", {**DECLARED, "rows": name}))
    assert stores(sandbox) == ROWS


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_rows_is_for_an_object_that_is_declared(sandbox: da.Sandbox, tmp_path: Path, name: str) -> None:
    sandbox.declare("store", 7, ATTRIBUTES)  # type: ignore[arg-type]
    assert sandbox.seed(written(tmp_path, name, FILES[name]), name="store") == 2
    assert stores(sandbox) == ROWS
    with pytest.raises(da.SandboxError, match=name):
        sandbox.seed(tmp_path / name, name="store")
    assert sandbox.seed(tmp_path / name, name="store", replace=True) == 2


def test_a_dict_is_a_seed_too(sandbox: da.Sandbox) -> None:
    assert sandbox.seed({**DECLARED, "rows": ROWS}) == 2
    assert stores(sandbox) == ROWS


def test_customers_get_attributes_without_an_id(sandbox: da.Sandbox, tmp_path: Path) -> None:
    seed = {"object": "customer", "attributes": {"customer_id": "string", "age": "int64"}, "rows": "all.csv"}
    written(tmp_path, "all.csv", "customer_id,age\n17,36\n")
    sandbox.seed(written(tmp_path, "customers.json", seed))
    rows = sandbox.client().search_items("customer", ["age"], da.col("customer_id").equals("17"))
    assert rows == [{"age": 36}]


def test_the_first_attribute_identifies_a_record(sandbox: da.Sandbox) -> None:
    seed = {"object": "z", "item_type_id": 9, "attributes": {"z_id": "string", "a": "string"}}
    sandbox.seed({**seed, "rows": [{"z_id": "1", "a": "x"}]})
    with pytest.raises(da.SandboxError):
        sandbox.seed({**seed, "rows": [{"z_id": "1", "a": "y"}]})


# The content of shop.json, and what the error of it names.
SEEDS: list[tuple[object, str]] = [
    ("{", r"shop\.json\b.*line 1 column 2"),
    (5, r"shop\.json\b.* integer"),
    ({"rows": []}, r"shop\.json: .*'object'"),
    ({**DECLARED, "row": []}, r"shop\.json: .*'row'.*'rows'\?"),
    ([DECLARED, {**DECLARED, "objects": 1}], r"shop\.json: \[1\]: .*'objects'.*'object'\?"),
    ({**DECLARED, "item_type_id": "7"}, r"shop\.json: item_type_id\b.* string"),
    ({**DECLARED, "item_type_id": True}, r"shop\.json: item_type_id\b.* true"),
    ({"object": "store", "attributes": ATTRIBUTES}, r"shop\.json: .*'item_type_id'"),
    ({"object": "store", "item_type_id": 7}, r"shop\.json: item_type_id\b.* attributes\b"),
    ({**DECLARED, "attributes": {"store_id": 1}}, r"shop\.json: attributes\.store_id\b.* integer"),
    ({**DECLARED, "attributes": {"store_id": "text"}}, r"shop\.json: .*`store_id`.*`text`"),
    ({**DECLARED, "rows": 5}, r"shop\.json: rows\b.* integer"),
    ({**DECLARED, "rows": [{"store_id": "1", "aera": 5}]}, r"shop\.json: .*row 0: .*`aera`"),
    ({**DECLARED, "rows": "gone.csv"}, r"gone\.csv"),
    ({**DECLARED, "rows": "shop.txt"}, r"shop\.txt: .*\.json, \.jsonl, \.csv .*\.parquet"),
]


@pytest.mark.parametrize(("content", "data"), SEEDS, ids=[data for _, data in SEEDS])
def test_what_is_wrong_is_reported_with_its_place(
    sandbox: da.Sandbox, tmp_path: Path, content: object, data: str
) -> None:
    with pytest.raises((da.ConfigError, da.SandboxError), match=data) as caught:
        sandbox.seed(written(tmp_path, "shop.json", content))
    assert str(caught.value).startswith(str(tmp_path))


# The name of a file of rows, its content, and what the error of it names.
ROW_FILES: list[tuple[str, object, str]] = [
    ("a.csv", "store_id,store_id\ns-1,s-2\n", r"a\.csv, line 1: .*'store_id'"),
    ("a.jsonl", '{"store_id": "1", "store_id": "2"}', r"a\.jsonl, line 1: .*'store_id'"),
    ("a.json", '[{"store_id": "1", "store_id": "2"}]', r"a\.json\b.*'store_id'"),
    ("a.csv", "store_id,area\ns-1,wide\n", r"a\.csv, line 2: area: 'wide'"),
    ("a.csv", "store_id,area\ns-1,1_0\n", r"a\.csv, line 2: area: '1_0'"),
    ("a.csv", "store_id,area\n\ns-1\n", r"a\.csv, line 3: 1 .*\b2\b"),
    ("a.csv", "store_id,is_open\ns-1,yes\n", r"a\.csv, line 2: is_open: 'yes'"),
    ("a.csv", 'store_id,tags\ns-1,"{}"\n', r"a\.csv, line 2: tags: '{}'"),
    ("a.csv", 'store_id\n"s-1', r"a\.csv, line 2: .*CSV"),
    ("a.csv", "store_id,aera\ns-1,5\n", r"a\.csv: .*`aera`"),
    ("a.jsonl", '{"store_id": "s-1"}\n{"store_id":\n', r"a\.jsonl, line 2: .*JSON"),
    ("a.jsonl", '"s-1"\n', r"a\.jsonl: .*row 0"),
    ("a.json", {"store_id": "s-1"}, r"a\.json\b.* object"),
    ("a.csv", 'store_id,tags\ns-1,"[1"\n', r"a\.csv, line 2: tags: '\[1'"),
    ("a.csv", "store_id\nGr\u00f6\u00dfe\n".encode("latin1"), r"a\.csv\b.*UTF-8"),
    ("a.json", '["Gr\u00f6\u00dfe"]'.encode("latin1"), r"a\.json\b.*UTF-8"),
    ("a.json", "[" * 100_000, r"a\.json"),
    ("a.parquet", "PAR1", r"a\.parquet\b.*Parquet"),
]


@pytest.mark.parametrize(("name", "content", "data"), ROW_FILES, ids=[data for *_, data in ROW_FILES])
def test_a_wrong_row_is_reported_with_its_line_and_none_is_loaded(
    sandbox: da.Sandbox, tmp_path: Path, name: str, content: object, data: str
) -> None:
    sandbox.declare("store", 7, ATTRIBUTES)  # type: ignore[arg-type]
    with pytest.raises((da.ConfigError, da.SandboxError), match=data) as caught:
        sandbox.seed(written(tmp_path, name, content), name="store")
    assert str(caught.value).startswith(str(tmp_path))
    assert stores(sandbox) == []


def test_the_object_of_rows_must_be_named_and_declared(sandbox: da.Sandbox, tmp_path: Path) -> None:
    path = written(tmp_path, "stores.csv", CSV)
    with pytest.raises(da.ConfigError, match=r"stores\.csv\b.* name"):
        sandbox.seed(path)
    with pytest.raises(da.ConfigError, match=r"stores\.csv: .*'custmer'.*'customer'\?"):
        sandbox.seed(path, name="custmer")
    with pytest.raises(da.ConfigError, match=r"stores\.csv: .*'shop'"):
        sandbox.seed(path, name="shop")
    with pytest.raises(da.ConfigError, match=r"stores\.xlsx"):
        sandbox.seed(tmp_path / "stores.xlsx")
    with pytest.raises(da.ConfigError, check=about("name")):
        sandbox.seed(dict(DECLARED), name="store")


def test_without_polars_and_pyarrow_the_error_names_the_extra(tmp_path: Path) -> None:
    path = written(tmp_path, "a.parquet", pl.DataFrame({"customer_id": ["1"]}))
    code = f"""
import importlib.util
import dataaccess as da
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in ("polars", "pyarrow") else found(name, *rest)
with da.Sandbox() as sandbox:
    try:
        sandbox.seed({str(path)!r}, name="customer")
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.startswith(f"{path}: ")
    assert done.stdout.endswith(": pip install polars\n")
