"""The options for a client, and the client that they make."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._client.settings import SETTINGS
from dataaccess.cli.ending import USAGE, CommandError, is_typed, message_of
from dataaccess.cli.parts import all_of, option
from dataaccess.cli.streams import note
from dataaccess.cli.values import Duration, TokenPath
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataaccess import Client
    from dataaccess._client.settings import Spec

_SECTION = "Connection (else the environment, else the profile)"
# How the command takes a setting, by its kind.
_TYPES: dict[str, dict[str, Any]] = {
    "boolean": {"is_flag": True},
    "choice": {"metavar": "NAME"},
    "duration": {"type": Duration(), "metavar": "DURATION"},
    "integer": {"type": int, "metavar": "N"},
    "number": {"type": float, "metavar": "N"},
    "path": {"metavar": "PATH"},
    "url": {"metavar": "URL"},
    "zone": {"metavar": "ZONE"},
}


def _option(spec: Spec) -> Any:
    shown = "" if spec.default in (None, False) else f" [{spec.default_text}]"
    flag = f"--{spec.name.replace('_', '-')}"
    kind = _TYPES[spec.kind] | ({"type": click.Choice(spec.choices)} if spec.choices else {})
    return option(flag, section=_SECTION, help=f"{spec.help}{shown}", **kind)


_USUAL = {name: _option(spec) for name, spec in SETTINGS.items() if spec.is_usual}
_OPTIONS = {
    "profile": option("--profile", metavar="NAME", section=_SECTION, help="Profile of the configuration file."),
    "base_url": _USUAL.pop("base_url"),
    "token_file": option(
        "--token-file",
        type=TokenPath(),
        metavar="FILE",
        section=_SECTION,
        help="File with the token; or set DATAACCESS_TOKEN or DATAACCESS_TOKEN_FILE.",
    ),
    **_USUAL,
    "verbose": option("-v", "--verbose", is_flag=True, section=_SECTION, help="Log each request to standard error."),
}


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings that were given as options."""

    given: dict[str, Any]

    def client(self, **settings: Any) -> Client:
        """A client of these settings.

        Args:
            **settings: In place of those of the options.
        """
        options = {name: value for name, value in self.given.items() if value is not None} | settings
        if file := options.pop("token_file", None):
            options["token"] = da.token_file(file)
        try:
            return da.Client(**options)
        except ConfigError as error:
            if is_typed(error):
                raise CommandError(message_of(error), USAGE) from None
            if options.get("base_url") or os.environ.get("DATAACCESS_BASE_URL") or options.get("profile"):
                raise
            # In a cron job, HOME or the folder of the profiles may be another one.
            absent = _absent_profile()
            *lines, last = error.problems
            raise ConfigError.of([*lines, f"{last}; {absent}"]) from None


def _absent_profile() -> str:
    from dataaccess._client.profiles import config_path  # `--help` needs no profiles

    path = config_path()
    # `Path.exists` raises where HOME may not be read.
    found = os.path.exists(path)  # noqa: PTH110
    return f"{path} has no profile default" if found else f"there is no file of profiles {path}"


def connecting(*left_out: str) -> Callable[[Any], Any]:
    """Adds the options for a client: the command gets one argument, `connection`.

    Args:
        *left_out: Options that the command defines by itself.
    """
    chosen = {name: one for name, one in _OPTIONS.items() if name not in left_out}

    def add(function: Any) -> Any:
        @wraps(function)
        def call(**values: Any) -> Any:
            given = {name: values.pop(name) for name in chosen}
            # A flag that is not given is no setting: the profile may have it.
            given["allow_http"] = given["allow_http"] or None
            with _log() if given.pop("verbose") else nullcontext():
                return function(connection=Connection(given), **values)

        return all_of(list(chosen.values()))(call)

    return add


@contextmanager
def _log() -> Iterator[None]:
    """Prints the log records of requests."""
    import logging

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            time = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
            note(f"{time} dataaccess: {record.getMessage()}")

    logger, lines = logging.getLogger("dataaccess"), Lines()
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.setLevel(level)
