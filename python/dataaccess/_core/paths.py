"""Paths of this machine, and URLs of object stores."""

from __future__ import annotations

import os
import re
import stat
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._core.checks import invalid
from dataaccess._native import STORE_SCHEMES

if TYPE_CHECKING:
    from dataaccess._core.secret import StorageOptions

# `Path("s3://bucket")` has one slash less. One letter is a drive of Windows.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_FILE_URL = re.compile(r"(?i)file:(?://(?:localhost)?)?(?=/(?!/))")


def local_path(path: str | os.PathLike[str]) -> str:
    """The absolute path, with `~` as the home folder."""
    from pathlib import Path

    # `Path.expanduser` raises for a user who does not exist.
    return str(Path(os.path.expanduser(os.fspath(path))).absolute())  # noqa: PTH111


def read_file(name: str | os.PathLike[str]) -> tuple[bytes, int]:
    """The bytes and the mode of a regular file. A `ValueError` for another: opening a pipe would wait for a process."""
    from pathlib import Path

    mode = Path(name).stat().st_mode
    if not stat.S_ISREG(mode):
        raise ValueError("is not a regular file")
    return Path(name).read_bytes(), mode


def location(argument: str, path: object, options: StorageOptions | None) -> str:
    """The path on this machine, with `~` as the home folder, or the URL of an object store. `file://` is a path."""
    text = os.fspath(path)  # type: ignore[call-overload] # raises the TypeError
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a string or a path, not {type(text).__name__}")
    url, plain = _URL.match(text), without_query(text)
    if url is not None and url[1].lower() in STORE_SCHEMES:
        if not isinstance(path, str):
            raise invalid(argument, f"{type(path).__name__} drops a slash of a URL: pass it as a string")
        return text
    if options is not None:
        message = f"is for URLs of object stores, and {shortened(plain)} is not one: leave it out"
        raise invalid("storage_options", message)
    if _FILE_URL.match(text):
        from urllib.request import url2pathname

        return url2pathname(_FILE_URL.sub("", text, count=1))
    if url is not None:
        message = f"{url[1]}:// is not supported, only paths and file://, s3://, gs:// and az:// URLs"
        raise invalid(argument, f"{shortened(plain)} is not on this machine: {message}", plain)
    return os.path.expanduser(text)  # noqa: PTH111 - a string stays one


def without_query(text: str) -> str:
    """A path, or a URL up to `?` or `#`: a signature may follow."""
    return re.split("[?#]", text, maxsplit=1)[0] if _URL.match(text) else text
