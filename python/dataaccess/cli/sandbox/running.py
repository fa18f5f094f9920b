"""The options that name a sandbox which runs, in another process or on another machine, and the tokens of one.

Tokens are read from a file or the environment: the arguments of a process are not secret.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli.ending import USAGE, CommandError, message_of
from dataaccess.cli.parts import all_of, option
from dataaccess.cli.values import TokenPath
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = "DATAACCESS_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable
ADMIN_TOKEN = "DATAACCESS_SANDBOX_ADMIN_TOKEN"  # noqa: S105 - likewise


def token_of(file: str | None, variable: str) -> str | None:
    """The token of the file; without a file, of the variable, if it is set."""
    if file is None:
        return os.environ.get(variable) or None
    return da.token_file(file)()


_BASE_URL = "DATAACCESS_BASE_URL"
_SECTION = "The sandbox (else the environment)"
_OPTIONS = all_of(
    [
        option("--url", metavar="URL", section=_SECTION, help=f"Address of the sandbox; or set {_BASE_URL}."),
        option(
            "--admin-token-file",
            type=TokenPath(),
            metavar="FILE",
            section=_SECTION,
            help=f"File with its admin token; or set {ADMIN_TOKEN}.",
        ),
    ]
)


def controlling(function: Callable[..., Any]) -> Any:
    """Adds the options of a subcommand, which gets the sandbox as `sandbox`."""

    @wraps(function)
    def run(*, url: str | None, admin_token_file: str | None, **given: Any) -> None:
        address = url or os.environ.get(_BASE_URL)
        token = token_of(admin_token_file, ADMIN_TOKEN)
        if not address:
            raise click.UsageError(f"no sandbox: give --url, or set {_BASE_URL} as dataaccess sandbox prints it")
        if token is None:
            advice = f"give --admin-token-file, or set {ADMIN_TOKEN} as dataaccess sandbox prints it"
            raise click.UsageError(f"no admin token: {advice}")
        with da.Sandbox.connect(address, token) as sandbox:
            try:
                function(sandbox=sandbox, **given)
            except ConfigError as error:
                # What the sandbox refuses was typed.
                raise CommandError(message_of(error), USAGE) from None

    return _OPTIONS(run)
