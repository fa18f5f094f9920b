"""What cannot be made from the table of settings, or from the numbers of the specification, agrees with it."""

from __future__ import annotations

import inspect
import re
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest
from support.arguments import about

import dataaccess as da
from dataaccess import _contract, _native, _types
from dataaccess._client.settings import KNOWN, SETTINGS
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._types import AttributeInfo, ClientSettings, ColumnType, ColumnTypeAlias
from dataaccess.spark._options import checked
from dataaccess.types import ClientOptions

ROOT = Path(__file__).parents[3]


def test_annotations_and_documentation_have_the_settings() -> None:
    assert list(ClientOptions.__annotations__) == [name for name in SETTINGS if name != "base_url"]
    assert ClientSettings.__annotations__.keys() == SETTINGS.keys()
    for name, annotation in ClientSettings.__annotations__.items():
        is_optional = "None" in getattr(annotation, "__forward_arg__", str(annotation))
        assert is_optional == SETTINGS[name].is_optional, name
    documented = re.findall(r"^    (\w+): ", inspect.getdoc(da.Client) or "", re.MULTILINE)
    assert [name for name in documented if name not in ("token", "profile", "ConfigError")] == list(SETTINGS)


def test_the_core_has_the_defaults() -> None:
    text = (ROOT / "src" / "config" / "mod.rs").read_text(encoding="utf-8")
    found = dict(
        re.findall(r"^            (\w+): (.+),$", text.partition("impl Default for Arguments")[2], re.MULTILINE)
    )
    for name, spec in SETTINGS.items():
        match spec.default:
            case _ if name not in found:
                assert name in ("item_types", "attrs_format")
            case None:
                assert found[name] in ("None", "Vec::new()"), name
            case bool():
                assert found[name] == str(spec.default).lower()
            case int() | float():
                assert found[name].removeprefix("Some(").removesuffix(")") == str(spec.default)
            case _:
                assert found[name] in (f'"{spec.default}".to_owned()', "DayComparison::default()")


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_spark_takes_or_refuses_each_setting(name: str) -> None:
    if name in ("base_url", "timezone", "source_timezone", "day_comparison", "known_row_cap", "retry_for"):
        assert checked({name: "sandbox:demo"}).keys() == {name}
    else:
        with pytest.raises(da.ValidationError, check=about(name)):
            checked({name: "1"})


def test_the_core_reads_the_variables_of_the_settings() -> None:
    shared = {variable for spec in SETTINGS.values() for variable in spec.shared}
    assert {*_native.ENVIRONMENT} - shared == {"no_proxy", "NO_PROXY", "REQUEST_METHOD"}
    assert shared <= {*_native.ENVIRONMENT}
    assert {spec.variable for spec in SETTINGS.values()} <= KNOWN


def constants(file: str) -> dict[str, str]:
    """The constants of a file of the core."""
    text = (ROOT / "src" / file).read_text(encoding="utf-8")
    return dict(re.findall(r"const (\w+): [^=]+ = ([^;]+);", text))


def test_the_numbers_are_those_of_the_core() -> None:
    codes, paths, objects = (constants(f"contract/{name}.rs") for name in ("codes", "mod", "business_object"))
    for name, rust in (("code_status", "STATUSES"), ("audience_type", "AUDIENCE_TYPES")):
        assert {text: int(value) for text, value in re.findall(r'"(\w+)", (-?\d+)', codes[rust])} == _contract.VALUES[
            name
        ]
    known = {name: int(objects[f"{name.upper()}_ID"]) for name in _contract.ITEM_TYPES}
    assert known == _contract.ITEM_TYPES
    assert re.findall(r'"(\w+)"', codes["ATTRIBUTES"]) == list(da.PROMOTION_CODE_ATTRIBUTES)
    assert {name: paths[name].strip('"') for name in ("SEARCH_PATH", "DOWNLOAD_PATH")} == {
        "SEARCH_PATH": _contract.SEARCH_PATH,
        "DOWNLOAD_PATH": _contract.DOWNLOAD_PATH,
    }
    assert int(constants("filter/plan.rs")["VALUES_PER_REQUEST"].replace("_", "")) == _contract.VALUES_PER_REQUEST


def test_the_names_of_annotations_and_texts_are_those_of_the_numbers() -> None:
    for name, enum, alias in (
        ("code_status", da.CodeStatus, _types.CodeStatusName),
        ("audience_type", da.AudienceType, _types.AudienceName),
    ):
        values = _contract.VALUES[name]
        assert {member.name.lower(): int(member) for member in enum} == values
        assert list(get_args(alias)) == list(values)
        info: AttributeInfo = da.PROMOTION_CODE_ATTRIBUTES[name]  # type: ignore[index] # one of them
        assert all(f"{number} {text}" in info.meaning for text, number in values.items())
    assert get_args(_types.CodeAttribute) == tuple(da.PROMOTION_CODE_ATTRIBUTES)


SCAN: dict[str, Any] = {"attrs": ["name"], "allocated_time": da.on("2024-01-15")}


def test_the_table_has_the_types_of_the_core(client: da.Client) -> None:
    with pytest.raises(da.ValidationError, match=rf" {', '.join(COLUMN_TYPES)}$", check=about('schema["name"]')):
        client.scan_codes(**SCAN, schema={"name": "none of them"})  # type: ignore[dict-item]
    assert get_args(ColumnType) == tuple(COLUMN_TYPES)


def test_the_core_knows_each_alias(client: da.Client) -> None:
    for alias in chain.from_iterable(map(get_args, get_args(ColumnTypeAlias))):
        assert client.scan_codes(**SCAN, schema={"name": alias}).schema["name"] in COLUMN_TYPES
