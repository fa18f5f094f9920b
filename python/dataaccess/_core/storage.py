"""`storage_options=`: how to reach an object store. No representation or pickle shows a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dataaccess.errors import ConfigError

_LOST = "a pickled report has no storage_options: pass them to frame(storage_options=…)"


class StorageOptions(dict[str, str]):
    """Options of an object store: text by name. Its own type, so that tracebacks and logs show names alone."""

    def __init__(self, given: object) -> None:
        """Keeps what the caller gave; `checked` checks it."""
        super().__init__()
        self._given = given

    def checked(options: StoredOptions) -> StorageOptions | None:
    """The options as the core takes them.

    Raises:
        ConfigError: A pickle has lost them.
        TypeError: They are no mapping of strings.
    """
    if isinstance(options, str):
        raise ConfigError(_LOST)
    return None if options is None else options.checked()
