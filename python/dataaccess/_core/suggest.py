"""The error for an unknown attribute, with a name that may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._public import did_you_mean


class Suggesting:
    """An object whose error for an unknown attribute names what to write, or a similar one, in notebooks too."""

    __slots__ = ()

    if not TYPE_CHECKING:  # so that type checkers report an attribute that does not exist

        def __getattr__(self, name: str) -> object:
            """Raises the error for an unknown attribute."""
            kind = type(self)
            if name in dir(kind):
                # A property failed: this is its own error.
                return object.__getattribute__(self, name)
            described = f"{kind.__name__!r} object"
            if not name.startswith("_"):
                from dataaccess._core.advice import attribute_advice

                if (advice := attribute_advice(kind.__mro__, name)) is not None:
                    raise AttributeError(f"{described} has no attribute {name!r}: {advice}", obj=self)
            known = [] if name.startswith("_") else [other for other in dir(self) if not other.startswith("_")]
            raise AttributeError(f"{described} has no attribute {name!r}{did_you_mean(name, known)}", obj=self)
