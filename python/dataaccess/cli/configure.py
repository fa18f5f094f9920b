"""`dataaccess configure`: writes a profile, and its token into a file of its own."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._client.profiles import config_path, read
from dataaccess._probe import toml
from dataaccess.cli.complete_file import write_lines
from dataaccess.cli.ending import USAGE, CommandError
from dataaccess.cli.parts import Command, option
from dataaccess.cli.profile_file import append, appended
from dataaccess.cli.streams import note
from dataaccess.cli.values import TokenPath
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_EPILOG = """\b
Examples:
  dataaccess configure
  dataaccess configure --profile staging --base-url https://staging.example.com --timezone Asia/Ho_Chi_Minh
  pass show cdp/token | dataaccess configure --base-url https://cdp.example.com
"""


@click.command("configure", cls=Command, epilog=_EPILOG)
@option("--profile", "name", default="default", metavar="NAME", help="Name of the profile. [default]")
@option("--base-url", metavar="URL", help="Address of the service; asked for if it is not given.")
@option("--timezone", metavar="ZONE", help="IANA zone of days and, if given, of results. [UTC]")
@option("--token-file", type=TokenPath(), metavar="FILE", help="File with the token, in place of one that is made.")
def command(name: str, base_url: str | None, timezone: str | None, token_file: str | None) -> None:
    """Write an address and a token into the file of profiles.

    The token is asked for, or read from a pipe, and written into a file that nobody else may read. A profile that
    exists gets a new token, and is otherwise left as it is.
    """
    path = config_path()
    known = read(path).value
    before = known.get(name)
    if before is None and base_url is None:
        base_url = _asked("Address of the service", "--base-url")
    given = {"base_url": base_url, "timezone": timezone, "token_file": token_file}
    values = {key: value for key, value in given.items() if value is not None}
    if before is not None:
        _check_unchanged(name, path, before, values)
    token = path.parent / f"{name}.token"
    settings = {"token_file": str(token_file or token.name), **values}
    if problem := "a name has no slashes" if "/" in name or "\\" in name else _problem(base_url, timezone):
        raise CommandError(f"the profile {name} cannot be written: {problem}", USAGE)
    profile = [toml.pair(*setting) for setting in settings.items()]
    if before is None:
        # Refuses before a token is typed.
        appended(path, name, profile)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if before is not None and "token_file" in before:
        token = path.parent / os.path.expanduser(before["token_file"])  # noqa: PTH111 - never raises
    if token_file is None:
        _write_token(token)
        note(f"wrote the token to {token}")
    if before is None:
        append(path, name, profile)
        note(f"wrote the profile {name} to {path}")
    note(f"check it: dataaccess doctor{'' if name == 'default' else f' --profile {name}'}")


def _problem(base_url: str | None, timezone: str | None) -> str | None:
    """Why no client takes an address and a zone."""
    try:
        da.Client(base_url or "http://localhost", token="-", timezone=timezone or "UTC")  # noqa: S106 - nothing is sent
    except ConfigError as error:
        return str(error)
    return None


def _asked(what: str, instead: str) -> str:
    """What somebody types."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"missing option {instead}: nobody can be asked without a terminal")
    text: str = click.prompt(what, err=True)
    return text


def _check_unchanged(name: str, path: Path, before: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Refuses to change the settings of a profile: its file is yours, with your comments."""
    if "token" in before:
        raise CommandError(f"{path} has the token of {name} itself: remove it there, and write token_file", USAGE)
    changed = [key for key, value in values.items() if before.get(key) != value]
    if changed:
        keys = " and ".join(changed)
        raise CommandError(f"the profile {name} exists: change its {keys} in {path}, or name another --profile", USAGE)


def _write_token(path: Path) -> None:
    from dataaccess._native import RawToken  # loads the core

    is_typed = sys.stdin.isatty()
    token = (click.prompt("Token", hide_input=True, err=True) if is_typed else sys.stdin.readline()).strip()
    try:
        if not token:
            raise ConfigError("the token is empty")
        RawToken(token)
    except ConfigError as error:
        # No frame holds the token.
        token, problem = "", str(error)
        raise CommandError(problem, USAGE) from None
    write_lines(str(path), [token], private=True)
