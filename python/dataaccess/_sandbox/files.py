"""Files that a team writes for a `Sandbox`: JSON and TOML. Errors name the file and the place in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from dataaccess._core.paths import read_file
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_T = TypeVar("_T")

# The types of members as a reader of JSON or TOML calls them.
_NAMES = {dict: "an object", list: "an array", str: "a string", int: "an integer", bool: "true or false"}


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        ConfigError: It cannot be read, or is not UTF-8.
    """
    try:
        return read_file(path)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not valid UTF-8; save it as UTF-8") from None
    except ValueError as error:
        raise ConfigError(f"{path} {error}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


def parsed(path: Path) -> Any:
    """The content of a file of TOML or JSON, by its suffix.

    Raises:
        ConfigError: It cannot be read or parsed.
    """
    text = text_of(path)
    try:
        if path.suffix.lower() != ".toml":
            return json.loads(text, object_pairs_hook=members)
        import tomllib

        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply") from None
    except ValueError as error:
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        raise ConfigError(f"{path} is not {kind}: {error}") from None


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object, each of which occurs once.

    Raises:
        ValueError: Two have one name: either would be lost.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"two members of an object have the name {repeated(name for name, _ in pairs)!r}")
    return found


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


class Members:
    """The members of an object in a file. `take` reads one and checks its type."""

    def __init__(self, place: str, content: object, known: Iterable[str]) -> None:
        """Refuses members that are not known.

        Args:
            place: The file, and where the object is in it.
            content: The object.
            known: The names of the members that it may have.
        """
        self.place = place
        self._content: dict[str, Any] = typed(place, content, dict)
        names = list(known)
        for name in self._content:
            if name not in names:
                advice = did_you_mean(name, names) or f"; there are {', '.join(names)}"
                raise ConfigError(f"{place}: there is no member {name!r}{advice}")

    def take(self, name: str, *kinds: type[_T]) -> _T | None:
        """The member; None if there is none."""
        if name not in self._content:
            return None
        return typed(f"{self.place}: {name}", self._content[name], *kinds)

    def needed(self, name: str, *kinds: type[_T]) -> _T:
        """The member, which must be there."""
        found = self.take(name, *kinds)
        if found is None:
            raise ConfigError(f"{self.place}: the member {name!r} is missing")
        return found


def typed(place: str, value: object, *kinds: type[_T]) -> _T:
    """The value, which has one of the types."""
    for kind in kinds:
        # True is an integer in Python alone.
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
    expected = " or ".join(_NAMES.get(kind, kind.__name__) for kind in kinds)
    shown = "null" if value is None else _NAMES.get(type(value), type(value).__name__)
    raise ConfigError(f"{place} must be {expected}, not {shown}")
