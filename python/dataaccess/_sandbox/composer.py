"""The request of a search that was put together on the page of a sandbox: checked as the client checks it, not sent.

The answer is the request, and the lines that send it from Python, from the command and from curl.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dataaccess import filters
from dataaccess._client.functions import unconnected_client
from dataaccess._contract import DOWNLOAD_PATH
from dataaccess.errors import ConfigError, DataAccessError
from dataaccess.filters import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The times of promotion codes on the page: the function, the option of the command, and the type of each value.
_TIMES: dict[str, tuple[str, str, tuple[Callable[[str], object], ...]]] = {
    "on": ("on", "--on", (str,)),
    "yesterday": ("yesterday", "--yesterday", ()),
    "days": ("days", "--days", (str, str)),
    "month": ("month", "--month", (str,)),
    "last": ("last_days", "--last", (int,)),
    "since": ("since", "--since", (str,)),
    "until": ("until", "--until", (str,)),
    "after": ("after", "--after", (str,)),
    "before": ("before", "--before", (str,)),
}
# The settings of a client that decide how it reads days.
_DEFAULTS = {"timezone": "UTC", "day_comparison": "exclusive"}
# Requests of a scan that are shown.
_SHOWN = 10


def composed(given: str) -> str:
    """The answer to what the page sends, both as JSON.

    Args:
        given: An object with `operation` ("codes", "items" or "segment") and the arguments of that call. The sandbox
            adds `timezone` and `day_comparison`: the settings of a client that reads its days as it does.

    Returns:
        An object with `python`, `command`, `curl`, the first of the `requests` and their `total`; or with `error`.
    """
    try:
        answer = _composed(json.loads(given))
    except (DataAccessError, LookupError, TypeError, ValueError) as error:
        problems = [str(each) for each in getattr(error, "problems", ())]
        answer = {"error": {"kind": "ConfigError", "message": "\n".join(problems) or str(error), "hint": None}}
    return json.dumps(answer, ensure_ascii=False)


def _composed(given: object) -> dict[str, Any]:
    if not isinstance(given, Mapping) or given.get("operation") not in _OPERATIONS:
        raise ConfigError(f"operation: must be one of {', '.join(_OPERATIONS)}")
    return _OPERATIONS[given["operation"]](given)


def _codes(given: Mapping[str, Any]) -> dict[str, Any]:
    time = given.get("time") or {}
    if not isinstance(time, Mapping):
        raise ConfigError("time: must be an object with how and values")
    how, values = time.get("how"), _texts("time.values", time.get("values"))
    if how not in _TIMES:
        raise ConfigError(f"time.how: must be one of {', '.join(_TIMES)}")
    name, option, kinds = _TIMES[how]
    if len(values) != len(kinds):
        raise ConfigError(f"time.values: {how} takes {len(kinds)} values, not {len(values)}")
    try:
        typed = [kind(value) for kind, value in zip(kinds, values, strict=True)]
        condition = getattr(filters, name)(*typed)
    except ValueError as problem:
        raise ConfigError(f"time.values: {problem}") from None
    attrs = _texts("attrs", given.get("attrs")) or None
    conditions = {
        argument: listed
        for argument in ("audience_type", "allocated_audience", "code_status")
        if (listed := _texts(argument, given.get(argument)))
    }
    words = [option, *values]
    for argument, of_command in (
        ("code_status", "--status"),
        ("audience_type", "--audience-type"),
        ("allocated_audience", "--audience"),
    ):
        words += _listed(of_command, conditions.get(argument, []))
    text = ", ".join(
        [
            *([repr(attrs)] if attrs else []),
            f"allocated_time=da.{name}({', '.join(map(repr, typed))})",
            *(f"{argument}={value!r}" for argument, value in conditions.items()),
        ]
    )
    settings = _settings(given)
    bodies = _bodies("codes", settings, attrs, allocated_time=condition, **conditions)
    return _answer("codes", text, ["codes", *_listed("--attrs", attrs or []), *words], bodies, settings)


def _items(given: Mapping[str, Any]) -> dict[str, Any]:
    name, attrs = str(given.get("item_type_name") or ""), _texts("attrs", given.get("attrs"))
    number, where = given.get("item_type_id"), str(given.get("where") or "")
    options = {} if number is None else {"item_type_id": number}
    condition = parse(where) if where else None
    text = ", ".join(
        [
            repr(name),
            repr(attrs),
            *([_qualified(where)] if where else []),
            *(f"{option}={value!r}" for option, value in options.items()),
        ]
    )
    words = ["items", name, *_listed("--attrs", attrs), *(["--where", where] if where else [])]
    words += [] if number is None else ["--item-type-id", str(number)]
    settings = _settings(given)
    return _answer("items", text, words, _bodies("items", settings, name, attrs, condition, **options), settings)


def _segment(given: Mapping[str, Any]) -> dict[str, Any]:
    export = given.get("export_id")
    if not isinstance(export, int) or isinstance(export, bool) or export < 0:
        raise ConfigError(f"export_id: must be an integer from 0 on, not {export!r}")
    request = {"path": DOWNLOAD_PATH, "body": {"scope": "download", "exportId": export}}
    return {
        "python": f"client.download_segment({export})",
        "command": f"dataaccess segment {export}",
        "curl": _curl(request),
        "requests": [request],
        "total": 1,
    }


_OPERATIONS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "codes": _codes,
    "items": _items,
    "segment": _segment,
}


def _settings(given: Mapping[str, Any]) -> dict[str, str]:
    """The settings of a client that reads its days as the sandbox does, where they are not the default."""
    return {name: str(given[name]) for name, default in _DEFAULTS.items() if given.get(name, default) != default}


def _bodies(call: str, settings: dict[str, str], *arguments: Any, **named: Any) -> list[dict[str, Any]]:
    """The requests of a scan, which a client without a connection has checked."""
    from urllib.parse import urlsplit

    scan = getattr(unconnected_client(**{**_DEFAULTS, **settings}), f"scan_{call}")(*arguments, **named)
    return [{"path": urlsplit(request["url"]).path, "body": request["body"]} for request in scan.requests()]


def _answer(
    call: str, arguments: str, words: list[str], requests: list[dict[str, Any]], settings: dict[str, str]
) -> dict[str, Any]:
    # A search is one request; several are a scan.
    python = (
        f"client.search_{call}({arguments})" if len(requests) == 1 else f"client.scan_{call}({arguments}).to_dicts()"
    )
    if settings:
        python = f"client = da.Client({', '.join(f'{name}={value!r}' for name, value in settings.items())})\n{python}"
        words += [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", value)]
    return {
        "python": python,
        "command": shlex.join(["dataaccess", *words]),
        "curl": _curl(requests[0]) if requests else "",
        "requests": requests[:_SHOWN],
        "total": len(requests),
    }


def _curl(request: dict[str, Any]) -> str:
    body = shlex.quote(json.dumps(request["body"], ensure_ascii=False))
    return (
        f'curl "$DATAACCESS_BASE_URL{request["path"]}" -H "Authorization: Bearer $DATAACCESS_TOKEN" '
        f"-H 'Content-Type: application/json' --data-binary {body}"
    )


def _qualified(where: str) -> str:
    """A condition as a program writes it: with the name of the package before each function."""
    from io import StringIO
    from tokenize import NAME, generate_tokens

    written = repr(filters.parse(where))
    tokens = generate_tokens(StringIO(written).readline)
    names = [token.start[1] for token in tokens if token.type == NAME and token.string in filters.__all__]
    for start in reversed(names):
        if written[start - 1 : start] != ".":
            written = f"{written[:start]}da.{written[start:]}"
    return written


def _listed(option: str, values: Iterable[str]) -> list[str]:
    listed = ",".join(values)
    return [option, listed] if listed else []


def _texts(name: str, given: object) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise ConfigError(f"{name}: must be a list of strings")
    return given
