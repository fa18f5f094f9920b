"""The calls and responses of `tests/json/contract.json`, which every way to call the service reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from support.raw_server import EXPORT, Responder, closing, http

import dataaccess as da

_FILE = Path(__file__).parents[2] / "json" / "contract.json"
CONTRACT: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
NOW = "2024-01-16T20:00+00:00"
ADDRESS = "http://127.0.0.1:9"
EMPTY = http({"code": 200, "message": "", "data": {"status": True, "data": []}})
# The options of the command that are called otherwise than the arguments.
OPTIONS = {
    "allocated_time": "--where",
    "code_status": "--status",
    "allocated_audience": "--audience",
    "audience_type": "--audience-type",
    "item_type_id": "--item-type-id",
}


def calls(reader: str) -> list[Any]:
    return [case for case in CONTRACT["calls"] if reader not in case.get("not", ())]


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def made(value: Any) -> Any:
    """A condition that is written as JSON, such as `{"on": ["2024-01-15"]}` or `{"col": "a", "matches": [["x"]]}`."""
    if not isinstance(value, dict):
        return value
    if {"all", "any"} & value.keys():
        ((kind, parts),) = value.items()
        first, *others = map(made, parts)
        for part in others:
            first = first & part if kind == "all" else first | part
        return first
    options = {name: text for name, text in value.items() if name in ("unit", "data_type")}
    name, *others = value.keys() - options.keys() - {"col"}
    if others or name == "OR" or not isinstance(value[name], list):
        return value
    arguments = [made(each) for each in value[name]]
    return getattr(da.col(value["col"]) if "col" in value else da, name)(*arguments, **options)


def arguments(case: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with conditions in place of their JSON."""
    conditions = ("allocated_time", "audience_type", "allocated_audience", "code_status", "where")
    given = case["arguments"].items()
    return {name: made(value) if name in conditions else value for name, value in given}


def texts(case: dict[str, Any]) -> dict[str, str]:
    """The arguments of a call as texts, as options of Spark have them."""

    def text(name: str, value: Any) -> str:
        if isinstance(value, dict):
            return json.dumps(value) if "OR" in value else repr(made(value))
        return value if isinstance(value, str) else repr(value)

    return {name: text(name, value) for name, value in case["arguments"].items()}


def problems(error: da.ValidationError) -> list[list[str | None]]:
    """The argument, the path in the body and the value of each problem."""
    return [[problem.argument, problem.path, problem.value] for problem in error.problems]


def settings(case: dict[str, Any]) -> dict[str, str]:
    """The settings of the client as variables of the environment."""
    given = case.get("client", {}).items()
    return {
        f"DATAACCESS_{name.upper()}": value if isinstance(value, str) else json.dumps(value) for name, value in given
    }


def words(case: dict[str, Any]) -> list[str]:
    given, written = case["arguments"], texts(case)
    if case["call"] == "download_segment":
        return ["segment", written["export_id"]]
    found = ["codes"] if case["call"].endswith("codes") else ["items", written.pop("item_type_name")]
    for name, text in written.items():
        if name == "schema":
            found += [word for column, kind in given[name].items() for word in ("--schema", f"{column}={kind}")]
            continue
        is_list = isinstance(given[name], list)
        found += [OPTIONS.get(name, f"--{name}"), ",".join(map(str, given[name])) if is_list else text]
    return found


def expected(case: dict[str, Any]) -> bytes:
    return http(EXPORT) if case["call"] == "download_segment" else EMPTY


def responses(reader: str) -> list[Any]:
    return [case for case in CONTRACT["responses"] if reader not in case.get("not", ())]


def raw(case: dict[str, Any]) -> bytes:
    """The bytes of a response; their length is declared unless the case has another header in its place."""

    def code(found: re.Match[str]) -> str:
        return bytes.fromhex(found[1]).decode("utf-8", "surrogateescape")

    body = re.sub("<((?:[0-9A-F]{2} ?)+)>", code, case["bytes"]).encode("utf-8", "surrogateescape")
    given = {"Content-Type": "application/json", "Content-Length": str(len(body)), **case.get("headers", {})}
    lines = [f"HTTP/1.1 {case['status']}", *(f"{name}: {value}" for name, value in given.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def responding(case: dict[str, Any]) -> Responder:
    return closing(raw(case))


def verdict(error: da.DataAccessError) -> dict[str, Any]:
    """The class of an error, whether it is retryable, and the fields that programs read."""
    fields = {name: getattr(error, name, None) for name in ("reason", "status", "code", "field", "retry_after")}
    given = {name: value for name, value in fields.items() if value is not None}
    return {"error": type(error).__name__, "retryable": error.retryable, "fields": given}
