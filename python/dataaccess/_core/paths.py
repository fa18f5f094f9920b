"""Paths of this machine, and URLs of files and folders that a scan writes."""

from __future__ import annotations

import os
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._core.checks import invalid

if TYPE_CHECKING:
    from typing import NoReturn

    from dataaccess._core.storage import StorageOptions

# `Path("s3://bucket")` has one slash less. One letter is a drive of Windows.
_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]+):/"
_FILE_URL = r"(?i)file:(?://(?:localhost)?)?(?=/(?!/))"
_STORES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "wasb", "wasbs")


def local_path(path: str | os.PathLike[str]) -> str:
    """The absolute path on this machine, with `~` as the home folder: the same after a change of the current folder.

    Raises:
        TypeError: It is not a string or path.
    """
    from pathlib import Path

    # `Path.expanduser` raises for a user who does not exist.
    return str(Path(os.path.expanduser(os.fspath(path))).absolute())  # noqa: PTH111


def location(argument: str, path: object, options: StorageOptions | None) -> str:
    """The path on this machine, with `~` as the home folder, or the URL of an object store. `file://` is a path.

    Raises:
        TypeError: It is not a string or path.
        ValidationError: It is a URL of another kind, or another argument does not fit it.
    """
    import re

    text = os.fspath(path)  # type: ignore[call-overload] # raises the TypeError
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a string or a path, not {type(text).__name__}")
    scheme = re.match(_SCHEME, text)
    if scheme is not None and scheme[1].lower() in _STORES:
        return _of_store(argument, path, text)
    if options is not None:
        refuse(
            "storage_options",
            f"is for URLs of object stores, and {shortened(without_query(text))} is not one: leave it out",
        )
    if re.match(_FILE_URL, text):
        from urllib.request import url2pathname

        return url2pathname(re.sub(_FILE_URL, "", text, count=1))
    if scheme is not None:
        refuse(
            argument,
            f"{shortened(without_query(text))} is not on this machine: {scheme[1]}:// is not supported, only paths and "
            f"file://, s3://, gs:// and az:// URLs",
            without_query(text),
        )
    return os.path.expanduser(text)  # noqa: PTH111 - a string stays one


def without_query(text: str) -> str:
    """A path, or a URL without what is behind `?` or `#`: it may be a signature."""
    import re

    return re.split("[?#]", text, maxsplit=1)[0] if re.match(_SCHEME, text) else text


def _of_store(argument: str, path: object, text: str) -> str:
    if not isinstance(path, str):
        refuse(argument, f"{type(path).__name__} drops a slash of a URL: pass it as a string")
    return text


def refuse(argument: str, message: str, value: object = None) -> NoReturn:
    """Raises the error for an argument."""
    raise invalid(argument, message, value)
