"""The error for an unknown attribute, with a name that may be meant."""

from __future__ import annotations

from dataaccess._public import no_attribute

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import ClassVar


class Suggesting:
    """An object whose error for an unknown attribute names a similar one, in notebooks too.

    `_MEANT` has the advice for names that users know from other libraries.
    """

    __slots__ = ()

    _MEANT: ClassVar[dict[str, str]] = {}

    if not TYPE_CHECKING:  # so that type checkers report an attribute that does not exist

        def __getattr__(self, name: str) -> object:
            """Raises the error for an unknown attribute."""
            kind = type(self)
            if name in dir(kind):
                # A property failed: this is its own error.
                return object.__getattribute__(self, name)
            described = f"{kind.__name__!r} object"
            if (advice := self._MEANT.get(name)) is not None:
                raise AttributeError(f"{described} has no attribute {name!r}: {advice}", obj=self)
            raise no_attribute(self, described, name)
