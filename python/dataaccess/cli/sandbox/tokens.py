"""The tokens of a sandbox, from a file or the environment: the arguments of a process are not secret."""

from __future__ import annotations

import os

import dataaccess as da

TOKEN = "DATAACCESS_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable
ADMIN_TOKEN = "DATAACCESS_SANDBOX_ADMIN_TOKEN"  # noqa: S105 - likewise


def token_of(file: str | None, variable: str) -> str | None:
    """The token of the file; without a file, of the variable, if it is set."""
    if file is None:
        return os.environ.get(variable) or None
    return da.token_file(file)()
