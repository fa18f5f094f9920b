"""Scenarios: the data, behaviour, faults and exports of a sandbox in one file, as a team commits it."""

from __future__ import annotations

import json
import tomllib
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

from dataaccess._core.paths import read_file
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    _S = TypeVar("_S")

# What a value may be: types, an object with these keys, or an array of one kind of value.
_SEED = {"object": (str,), "item_type_id": (int,), "attributes": (dict,), "rows": ([dict],)}
_SCENARIO = {
    "demo": (bool, {"until": (str, date), "export_seconds": (int, float)}),
    "now": (str, datetime),
    "platform": (str,),
    "switches": (dict,),
    "seeds": ([_SEED],),
    "exports": ([dict],),
    "faults": ([dict],),
}
# What JSON calls the types.
_NAMES = {dict: "an object", list: "an array", str: "a string", int: "an integer", float: "a number", NoneType: "null"}
SUFFIXES = (".toml", ".json")


def read_document(name: str) -> dict[str, Any]:
    """The object in a file of TOML or JSON, by its suffix."""
    kind = Path(name).suffix.lower()
    if kind not in SUFFIXES:
        raise ConfigError(f"{name}: the suffix must be {' or '.join(SUFFIXES)}")
    try:
        text = read_file(name)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{name} is not valid UTF-8; save it as UTF-8") from None
    except ValueError as error:
        raise ConfigError(f"{name} {error}") from None
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}") from None
    try:
        content = tomllib.loads(text) if kind == ".toml" else json.loads(text, object_pairs_hook=_members)
    except ValueError as error:
        raise ConfigError(f"{name} is not {kind[1:].upper()}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{name} is nested too deeply") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{name} must be an object, not {_name_of(type(content))}")
    return content


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object. Of two with one name either would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"two members of an object have the name {name!r}")
        found[name] = value
    return found


def started(kind: type[_S], place: str, content: dict[str, Any], **access: Any) -> _S:
    """A `Sandbox` of a scenario; errors of the content name the place."""
    if problems := list(_problems("", content, (_SCENARIO,))):
        shown = problems[0] if len(problems) == 1 else f"{len(problems)} keys are wrong: {'; '.join(problems)}"
        raise ConfigError(f"{place}: {shown}")
    options = {name: content[name] for name in ("now", "platform", "switches") if name in content}
    if options.get("platform", "").endswith(SUFFIXES):
        # A file is beside the scenario; a name has no suffix.
        options["platform"] = str(Path(place).parent / options["platform"])
    start: Any = kind
    if (demo := content.get("demo", False)) is not False:
        start = start.demo
        options |= {} if demo is True else demo
    try:
        sandbox: _S = start(**options, **access)
    except (ConfigError, SandboxError):
        # It is of the content if that cannot start alone, else of the access: a port in use, say.
        with _at(place):
            start(**options).stop()
        raise
    filling: Any = sandbox
    try:
        filling._control.is_start = True
        _fill(place, filling, content)
        filling._control.is_start = False
    except BaseException:
        filling.stop()
        raise
    return sandbox


def _fill(place: str, sandbox: Any, content: dict[str, Any]) -> None:
    """Loads the rows, starts the exports and begins the faults."""
    for number, seed in enumerate(content.get("seeds", [])):
        with _at(f"{place}: seeds[{number}]"):
            if "attributes" in seed:
                sandbox.declare(seed["object"], _id_of(sandbox, seed), seed["attributes"])
            elif "item_type_id" in seed:
                raise ConfigError("item_type_id declares an object, and attributes are missing")
            sandbox.load(seed["object"], seed.get("rows", []))
    for name in ("exports", "faults"):
        for number, body in enumerate(content.get(name, [])):
            with _at(f"{place}: {name}[{number}]"):
                sandbox._control.call("POST", f"/{name}", body)


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Errors name the place."""
    try:
        yield
    except (ConfigError, SandboxError) as error:
        raise type(error)(f"{place}: {error}") from None


def _problems(path: str, value: object, kinds: tuple[Any, ...]) -> Iterator[str]:
    """What is wrong with a value and all below it: each with the path of its key."""
    for kind in kinds:
        if isinstance(kind, dict) and isinstance(value, dict):
            lead = f"{path}." if path else ""
            for name, each in value.items():
                if name in kind:
                    yield from _problems(f"{lead}{name}", each, kind[name])
                else:
                    advice = did_you_mean(name, kind) or f"; there are {', '.join(kind)}"
                    yield f"there is no key {lead}{name}{advice}"
            yield from (f"{lead}{name} is missing" for name in kind if name in {"object"} - value.keys())
            return
        if isinstance(kind, list) and isinstance(value, list):
            for number, each in enumerate(value):
                yield from _problems(f"{path}[{number}]", each, tuple(kind))
            return
        # A bool is an integer in Python, and a datetime is a date.
        if kind is type(value):
            return
    expected = " or ".join(_name_of(kind if isinstance(kind, type) else type(kind)) for kind in kinds)
    yield f"{path} must be {expected}, not {_name_of(type(value))}"


def _name_of(kind: type) -> str:
    return _NAMES.get(kind, f"a {kind.__name__}")


def _id_of(sandbox: Any, seed: dict[str, Any]) -> int:
    """The id of an object; one that is declared already has it."""
    known = {declared["name"]: declared["item_type_id"] for declared in sandbox._control.call("GET", "/objects")}
    if (number := seed.get("item_type_id", known.get(seed["object"]))) is None:
        raise ConfigError("item_type_id is missing")
    return int(number)
