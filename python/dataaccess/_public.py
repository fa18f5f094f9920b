"""Public names: shows classes and functions as members of `dataaccess`, and suggests a name that may be meant.

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


class ClientZone:
    """The default of `tz=`: the `timezone` that the client was given; without one, times as the service wrote them.

    No `Enum`: a scan must not load that module.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """As signatures show it."""
        return "client.timezone"


CLIENT_ZONE = ClientZone()
