"""Paths of files and folders that a scan writes."""

from __future__ import annotations

import os
import re
from reprlib import repr as shortened

from dataaccess.errors import Problem, ValidationError

# `Path("s3://bucket")` has one slash less. One letter is a drive of Windows.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_FILE_URL = re.compile(r"file:(?://(?:localhost)?)?(?=/(?!/))", re.IGNORECASE)
_COMPRESSED = (".gz", ".zst")
_METHODS = {
    ".parquet": "to_parquet",
    ".pq": "to_parquet",
    ".csv": "to_csv",
    ".json": "to_jsonl",
    ".jsonl": "to_jsonl",
    ".ndjson": "to_jsonl",
}


def local_path(argument: str, path: object) -> str:
    """The path on this machine, with `~` as the home folder. A `file://` URL is one.

    Raises:
        TypeError: It is not a string or path.
        ValidationError: It is a URL of another kind.
    """
    text = os.fspath(path)  # type: ignore[call-overload] # raises the TypeError
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a string or a path, not {type(text).__name__}")
    if _FILE_URL.match(text):
        from urllib.request import url2pathname

        return url2pathname(_FILE_URL.sub("", text, count=1))
    if scheme := _SCHEME.match(text):
        message = (
            f"{shortened(text)} is not on this machine: {scheme[1]}:// is not supported, only paths and file:// URLs"
        )
        problem = Problem(argument, "", message, text)
        raise ValidationError(str(problem), problems=[problem])
    return os.path.expanduser(text)  # noqa: PTH111 - a string stays one


def local_file(path: object, method: str) -> str:
    """The path of a file that a method writes; another format's suffix is refused."""
    local = local_path("path", path)
    name = local.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    fitting = _METHODS.get(os.path.splitext(name)[1], method)  # noqa: PTH122 - likewise
    if fitting != method:
        message = f"{shortened(local)} is no file of {method}: write {fitting}, or another suffix"
        problem = Problem("path", "", message, local)
        raise ValidationError(str(problem), problems=[problem])
    return local
