"""Scenarios: the data, behaviour, faults and exports of a sandbox in one file, as a team commits it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
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
_NEEDED = {"object"}
# What JSON and TOML call the types.
_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
SUFFIXES = (".toml", ".json")


def read_document(path: Path) -> dict[str, Any]:
    """The object in a file of TOML or JSON, by its suffix.

    Raises:
        ConfigError: It cannot be read or parsed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: the suffix must be {' or '.join(SUFFIXES)}")
    is_toml = path.suffix.lower() == ".toml"
    try:
        text = read_file(path)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not valid UTF-8; save it as UTF-8") from None
    except ValueError as error:
        raise ConfigError(f"{path} {error}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    try:
        if is_toml:
            import tomllib

            return tomllib.loads(text)
        content = json.loads(text, object_pairs_hook=_members)
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{path} is not {'TOML' if is_toml else 'JSON'}: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must be an object, not {_name_of(type(content))}")
    return content


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object. Of two with one name either would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"two members of an object have the name {name!r}")
        found[name] = value
    return found


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a scenario says.

    Attributes:
        place: Where it stands, for errors.
        content: Its members by their keys.
    """

    place: str
    content: dict[str, Any]

    @classmethod
    def read(cls, path: str) -> Scenario:
        """Reads a file.

        Raises:
            ConfigError: The file cannot be read or parsed.
        """
        content = read_document(Path(path))
        platform = content.get("platform")
        if isinstance(platform, str) and platform.endswith(SUFFIXES):
            # What `dataaccess check --json` wrote is beside the scenario; a name has no suffix.
            content["platform"] = str(Path(path).parent / platform)
        return cls(path, content)

    def started(self, kind: type[_S], **access: Any) -> _S:
        """A sandbox of this scenario.

        Args:
            kind: `Sandbox`.
            **access: Its arguments of access.

        Raises:
            ConfigError: A key is unknown, or a value has another type.
            SandboxError: A value does not fit, or the sandbox cannot start.
        """
        problems = list(_problems("", self.content, (_SCENARIO,)))
        if problems:
            shown = problems[0] if len(problems) == 1 else f"{len(problems)} keys are wrong: {'; '.join(problems)}"
            raise ConfigError(f"{self.place}: {shown}")
        start = {name: self.content[name] for name in ("now", "platform", "switches") if name in self.content}
        demo = self.content.get("demo", False)
        with self._errors_of_start():
            if demo is False:
                sandbox: Any = kind(**start, **access)
            else:
                start |= {} if demo is True else demo
                sandbox = kind.demo(**start, **access)  # type: ignore[attr-defined]
        try:
            with sandbox._control.starting():
                self._fill(sandbox)
        except BaseException:
            sandbox.stop()
            raise
        made: _S = sandbox
        return made

    def _fill(self, sandbox: Any) -> None:
        """Loads the rows, starts the exports and begins the faults."""
        for number, seed in enumerate(self.content.get("seeds", [])):
            with self._at(f"seeds[{number}]"):
                if "attributes" in seed:
                    sandbox.declare(seed["object"], _id_of(sandbox, seed), seed["attributes"])
                elif "item_type_id" in seed:
                    raise ConfigError("item_type_id declares an object, and attributes are missing")
                sandbox.load(seed["object"], seed.get("rows", []))
        for name in ("exports", "faults"):
            for number, body in enumerate(self.content.get(name, [])):
                with self._at(f"{name}[{number}]"):
                    sandbox._control.call("POST", f"/{name}", body)

    @contextmanager
    def _at(self, path: str) -> Iterator[None]:
        """Errors name the place."""
        try:
            yield
        except (ConfigError, SandboxError) as error:
            raise type(error)(f"{self.place}: {path}: {error}") from None

    @contextmanager
    def _errors_of_start(self) -> Iterator[None]:
        """Errors of what the scenario says name it; others, as of a port in use, do not."""
        try:
            yield
        except (ConfigError, SandboxError) as error:
            about = str(error).partition(" ")[0].rstrip(":")
            if about not in ("now", "platform", "until", "export_seconds") and "switch" not in str(error):
                raise
            raise type(error)(f"{self.place}: {error}") from None


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
            yield from (f"{lead}{name} is missing" for name in kind if name in _NEEDED - value.keys())
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
    if "item_type_id" in seed:
        return int(seed["item_type_id"])
    for declared in sandbox._control.call("GET", "/objects"):
        if declared["name"] == seed["object"]:
            return int(declared["item_type_id"])
    raise ConfigError("item_type_id is missing")
