"""`storage_options=`: how to reach an object store. No representation or pickle shows a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    # As the argument is annotated: methods put this in place of what was given.
    _Annotated: TypeAlias = dict[str, str]
else:
    _Annotated = object

_LOST = "a pickled report has no storage_options: pass storage_options to the method that reads it"


class StorageOptions(_Annotated):
    """Options of an object store. Tools that show the locals of a traceback walk through dicts, and not this.

    Attributes:
        options: What the caller gave, once it is checked.
    """

    __slots__ = ("_given", "options")

    def __init__(self, given: object) -> None:
        """Keeps what the caller gave; `checked` checks it."""
        self.options: dict[str, str] = {}
        self._given = given

    def checked(self) -> StorageOptions:
        """The options, all of them strings.

        Raises:
            TypeError: They are no mapping of strings.
        """
        if self._given is None:
            return self
        if not isinstance(self._given, Mapping):
            raise TypeError(f"storage_options must be a dict of strings, not {type(self._given).__name__}")
        for name in self._given:
            if not isinstance(name, str) or not isinstance(self._given[name], str):
                kind = type(self._given[name]).__name__
                raise TypeError(f"storage_options must be a dict of strings, and {name!r} has a value of type {kind}")
        self.options = dict(self._given)
        self._given = None
        return self

    def __repr__(self) -> str:
        names = self._given if isinstance(self._given, Mapping) else self.options
        return f"StorageOptions({', '.join(map(repr, names))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has none of them: it becomes the text that `checked` knows."""
        return str, (_LOST,)


StoredOptions: TypeAlias = StorageOptions | str | None
"""Options, as they are or as a pickle had them."""


def hidden(given: object) -> StorageOptions | None:
    """The options of an argument, as yet unchecked; None for those of the environment alone."""
    return given if given is None or isinstance(given, StorageOptions) else StorageOptions(given)


def checked(options: StoredOptions) -> StorageOptions | None:
    """The options as the core takes them.

    Raises:
        ConfigError: A pickle has lost them.
        TypeError: They are no mapping of strings.
    """
    if isinstance(options, str):
        raise ConfigError(_LOST)
    return None if options is None else options.checked()


def object_names(url: str, options: StorageOptions | None) -> list[str]:
    """The names of the objects below a URL, from there on."""
    from dataaccess._native import object_names as native

    return native(url, options)
