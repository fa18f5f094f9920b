"""The options of the data source: which there are, and the client and the scan that they describe.

They have the names of the arguments of `Client`, `scan_codes` and `scan_items`. An option is a string that everybody
sees in the plan of a query, and who writes a query need not be who runs Spark. So options say what to read and how to
read it: the service, its token and its network come from the driver's environment or profile. No Spark is needed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from dataaccess import Client
from dataaccess._client.settings import SETTINGS, boolean, integer
from dataaccess._core.checks import invalid, problem
from dataaccess._core.host import hosted
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError, Problem, ValidationError
from dataaccess.filters._parse import cut, parse, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataaccess._client.settings import Spec
    from dataaccess._scan.scan import Scan
    from dataaccess._types import Schema


def _words(text: str) -> list[Any]:
    """The values of a list: `sent, used`, or a Python list."""
    if text.lstrip()[:1] in ("[", "(", "{"):
        found = read(text)
        return list(found) if isinstance(found, list | tuple | set) else [found]
    return [word.strip(" \t\r\n") for word in text.split(",")]


def _filters(text: str) -> Any:
    """An expression of `col`, as in Python, or the filters of the API specification in JSON."""
    if text.startswith("Column<"):
        raise ValueError(f"{cut(text)} is a column of Spark: use da.col, such as da.col('customer_id').equals('17')")
    if not text.lstrip().startswith("{"):
        return parse(text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{cut(text)!r} is not JSON: {error}") from None


def _statuses(text: str) -> list[Any]:
    """Names or numbers."""
    return [int(word) if str(word).removeprefix("-").isdecimal() else word for word in _words(text)]


def _shown(read: Callable[[str], Any], text: str) -> Any:
    """What a reader reads; its error shows the text."""
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{cut(text)!r} {error}") from None


def _setting(spec: Spec, text: str) -> Any:
    """Reads a setting. The client reports a text without a value, with all other settings."""
    with suppress(ValueError):
        return spec.of_text(text)
    return text


def _on_doubt(text: str) -> str:
    if text not in ("warn", "error"):
        raise ValueError(f"must be 'warn' or 'error', not {cut(text)!r}")
    return text


def _sandbox(text: str) -> str:
    if not text.startswith("sandbox:"):
        # The value may have a secret.
        raise ValueError("takes sandbox:demo alone: the environment of Spark names the service, DATAACCESS_BASE_URL")
    return text


_integer, _boolean = partial(_shown, integer), partial(_shown, boolean)

_Parsers = Mapping[str, "Callable[[str], Any]"]

_BOTH: _Parsers = {"attrs": _words, "on_suspected_cap": str}
_CODES: _Parsers = {
    **_BOTH,
    "allocated_time": parse,
    "audience_type": _statuses,
    "allocated_audience": _words,
    "code_status": _statuses,
    "decode_status": _boolean,
}
_ITEMS: _Parsers = {**_BOTH, "item_type_name": str, "item_type_id": _integer, "where": _filters}
# What no scan has as an argument. `json_attrs` are columns of any JSON value, as text.
_OWN: _Parsers = {"json_attrs": _words, "day_column": str, "requested_at": _boolean, "on_doubt": _on_doubt}

_ELSEWHERE = "is no option, as everybody who sees the plan of a query would see it: the environment of Spark sets it"
_REFUSED = {
    "token": f"{_ELSEWHERE}, DATAACCESS_TOKEN or DATAACCESS_TOKEN_FILE",
    "token_file": f"{_ELSEWHERE}, DATAACCESS_TOKEN_FILE",
    "profile": f"{_ELSEWHERE}, DATAACCESS_PROFILE",
    "limit": "is no option: write DataFrame.limit(n)",
    "schema": 'is no option: write spark.read.schema("id string, pool_id bigint")',
    "path": "is no option: load() takes no path, and this source cannot be written",
    "concurrency": "is no option: Spark runs one request for each core of its executors",
    "settle": "is no option: Spark keeps no folder, so each query requests its days anew",
    "filter": "is called where",
    "object": 'is called item_type_name, such as "customer"; without it, promotion codes are read',
}
# Settings that change which rows come, or for how long a task tries.
_OF_ROWS = ("timezone", "source_timezone", "day_comparison", "known_row_cap", "retry_for")
_CLIENT: _Parsers = {"base_url": _sandbox, **{name: partial(_setting, SETTINGS[name]) for name in _OF_ROWS}}
_ALL: _Parsers = {**_CLIENT, **_CODES, **_ITEMS, **_OWN}


def checked(options: Mapping[str, str]) -> dict[str, Any]:
    """The values of the options, by the names of the arguments. All that is wrong with them is reported together."""
    given = {name.lower(): text for name, text in options.items()}
    known = {**_CLIENT, **_OWN, **(_ITEMS if "item_type_name" in given else _CODES)}
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, text in given.items():
        try:
            if name not in known:
                # The value may be a secret.
                problems.append(problem(name, _unknown(name, known), None))
            else:
                values[name] = known[name](text)
        except ValueError as error:
            problems.append(problem(name, str(error), None if name == "base_url" else text))
    if problems:
        raise ValidationError(problems=problems)
    return values


def _unknown(name: str, known: Iterable[str]) -> str:
    if name in _REFUSED:
        return _REFUSED[name]
    if name in SETTINGS:
        return f"{_ELSEWHERE}, DATAACCESS_{name.upper()}"
    if name in _ITEMS:
        return "is an option of other objects, which the option item_type_name names"
    if name in _ALL:
        return "is an option of promotion codes, but item_type_name names another object: write the option where"
    advice = did_you_mean(name, known) or f"; there are {', '.join(sorted(known))}"
    return f"is no option{advice}"


def client_of(values: Mapping[str, Any]) -> Client:
    """The client, which pickles without its token."""
    settings = {name: values[name] for name in _CLIENT if name in values}
    # The driver decides on the address, so that the executors need no variable for it.
    settings.setdefault("base_url", os.environ.get("DATAACCESS_BASE_URL") or None)
    try:
        # A test of the options may lack PySpark.
        with hosted("spark", getattr(sys.modules.get("pyspark"), "__version__", None)):
            return Client(**settings)
    except ConfigError as error:
        if not any(line.startswith("token") for line in error.problems):
            raise
        advice = "a variable must be set before the session starts"
        raise ConfigError(f"{error}; {advice}", problems=error.problems, hint=error.hint) from None


def scan_of(values: Mapping[str, Any], attrs: list[str] | None, schema: Schema | None) -> Scan:
    """The scan. `attrs` and `schema` are those of the columns that Spark reads, once they are known."""
    client = client_of(values)
    names = _ITEMS if "item_type_name" in values else _CODES
    arguments = {name: values[name] for name in names if name in values}
    if attrs is not None:
        arguments["attrs"] = attrs
    if "item_type_name" in values:
        scan = client.scan_items(**arguments, schema=schema)
    elif "allocated_time" in arguments:
        scan = client.scan_codes(**arguments, schema=schema)
    else:
        forms = 'days("2024-01-01", "2024-04-01"), on(…), since(…), until(…), after(…) or before(…)'
        raise invalid("allocated_time", f"is required: write {forms}")
    if "day_column" in values and scan._raw.day(0) is None:
        message = "a request of this scan is for no single day: choose days(…), month(…), on(…) or the like"
        raise invalid("day_column", message, values["day_column"])
    if values.get("requested_at") and values.get("day_column") == "requested_at":
        raise invalid("day_column", "is the column of the option requested_at: write another name", "requested_at")
    return scan
