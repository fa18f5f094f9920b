"""Public names: shows classes and functions as members of `dataaccess`, and suggests a name for an unknown one.

A pickle then names `dataaccess.Client`, so it survives a move of the class. A traceback shows the name users import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeVar

    _T = TypeVar("_T")


def public(member: _T) -> _T:
    """Marks a class or function that users import from `dataaccess`."""
    marked: Any = member
    marked.__module__ = "dataaccess"
    return member


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name, if a known one is similar."""
    from difflib import get_close_matches

    return "".join(f"; did you mean {match!r}?" for match in get_close_matches(name, known, n=1))


def no_attribute(owner: object, described: str, name: str, known: Iterable[str] | None = None) -> AttributeError:
    """The error for an attribute that does not exist. Suggests one of the known names, or of those that `dir` shows."""
    # `dir` asks an object for attributes that begin with `_`.
    if name.startswith("_"):
        known = []
    elif known is None:
        known = dir(owner)
    shown = [other for other in known if not other.startswith("_")]
    # With `obj` and without `name` Python adds no suggestion of its own.
    return AttributeError(f"{described} has no attribute {name!r}{did_you_mean(name, shown)}", obj=owner)


class ClientZone:
    """The default of `tz=`: the `timezone` that the client was given; without one, times as the service wrote them.

    No `Enum`: a scan must not load that module.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """As signatures show it."""
        return "client.timezone"


CLIENT_ZONE = ClientZone()
