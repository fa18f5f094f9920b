"""Shows public classes and functions as members of `dataaccess`, whichever module defines them.

A pickle then names `dataaccess.Client`, so it survives a move of the class. A traceback shows the name users import.
"""

from __future__ import annotations

# Type checkers know the name. Importing `typing` would take a third of the time that importing a client takes, so no
# module of a client does.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, TypeVar

    _T = TypeVar("_T")


def public(member: _T) -> _T:
    """Marks a class or function that users import from `dataaccess`."""
    marked: Any = member
    marked.__module__ = "dataaccess"
    return member
