"""Files: where they are, and how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Literal, Protocol, TypeAlias

PathArgument: TypeAlias = str | PathLike[str]
"""A file or folder: a path, in which `~` is the home folder, or a URL."""

StorageOptions: TypeAlias = Mapping[str, str]
"""Credentials and options of an object store, by the names of polars and delta-rs, such as `aws_endpoint_url`."""

Compression: TypeAlias = Literal["infer", "gzip", "zstd"]
"""How a text file is compressed; "infer" follows the ending of its name: `.gz`, `.zst` or none of these."""


class WritableFile(Protocol):
    """A file opened in binary mode, such as `sys.stdout.buffer`."""

    def write(self, data: bytes, /) -> object:
        """Writes bytes, and returns how many if it may take a part."""


FileTarget: TypeAlias = PathArgument | WritableFile
"""Where rows are written: the path of a file, or a file opened in binary mode."""
