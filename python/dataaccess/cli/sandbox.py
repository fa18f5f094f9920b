"""`dataaccess sandbox`: serves the sandbox in a process of its own, until it is stopped.

Lines for the shell go to standard output, lines for people to standard error.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dataaccess._contract import DOWNLOAD_PATH, SEARCH_PATH
from dataaccess.cli.ending import USAGE, CommandError
from dataaccess.cli.parts import Command, option
from dataaccess.cli.streams import note
from dataaccess.cli.values import List, Pair, TokenPath, Whole, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess.sandbox import Sandbox

# Every user of the machine can read the arguments of a process; only its own user can read its environment and files.
_TOKEN = "DATAACCESS_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable

_SERVED = f"""
  POST {{url}}{SEARCH_PATH}        promotion codes, customers
  POST {{url}}{DOWNLOAD_PATH}   segment exports
  GET  {{url}}/openapi.json                  the description of both
"""

# A wait without a timeout would not notice Ctrl-C on Windows.
_POLL_SECONDS = 0.5

_EPILOG = """\b
Examples:
  dataaccess sandbox --port 8080
  dataaccess sandbox --until 2024-02-29
  dataaccess sandbox --db service.sqlite --switch latency=0.5
  dataaccess sandbox --platform platform.json
"""


@click.command("sandbox", cls=Command, epilog=_EPILOG)
@option("--port", type=Whole(0, 65535), default=0, metavar="PORT", help="Port on 127.0.0.1. [a free one]")
@option("--scopes", type=List(), multiple=True, metavar="A,B", help="Scopes of the token. [all]")
@option(
    "--token-file",
    type=TokenPath(),
    metavar="FILE",
    help=f"File with a token of your own, which has every scope; or set {_TOKEN}.",
)
@option(
    "--host-names",
    type=List(),
    multiple=True,
    metavar="A,B",
    help="Host names that requests may use besides localhost, such as host.docker.internal.",
)
@option(
    "--platform",
    metavar="NAME|FILE",
    help="Kind of platform: all-utc, local-times, other-zone-inclusive, or the file that `dataaccess probe` wrote.",
)
@option(
    "--switch",
    "switches",
    type=Pair("NAME=VALUE", "latency=0.5"),
    multiple=True,
    metavar="NAME=VALUE",
    help="Behavior where the API specification is silent, in place of the platform's; may be repeated.",
)
@option("--json", "as_json", is_flag=True, help="Print address, token and scopes as JSON in place of shell lines.")
@option("--demo", is_flag=True, section="Data, one of", help="Synthetic data up to yesterday; the default.")
@option("--until", metavar="DAY", section="Data, one of", help="Synthetic data of the 60 days up to DAY.")
@option("--empty", is_flag=True, section="Data, one of", help="No data.")
@option("--db", metavar="FILE", section="Data, one of", help="The data of this file; made if it does not exist.")
@option("--replay", metavar="FILE", section="Data, one of", help="The responses that Client(record=FILE) recorded.")
def command(
    port: int,
    scopes: list[list[str]],
    token_file: str | None,
    host_names: list[list[str]],
    platform: str | None,
    switches: list[tuple[str, str]],
    until: str | None,
    db: str | None,
    replay: str | None,
    *,
    demo: bool,
    empty: bool,
    as_json: bool,
) -> None:
    """Serve the sandbox on this machine, for development and tests.

    The sandbox is the whole Data Access API with synthetic data. The address and a token are printed as lines for the
    shell. The service ends with Ctrl-C.
    """
    from dataaccess.sandbox import Sandbox

    if (demo or until is not None) + empty + (db is not None) + (replay is not None) > 1:
        raise click.UsageError("--demo (or --until), --empty, --db and --replay exclude each other: write one")
    if replay is not None and (scopes or token_file or host_names or platform or switches):
        raise click.UsageError("--replay takes --port and --json alone: a recording has the behavior of its service")
    if scopes and token_file is not None:
        raise click.UsageError("--scopes does not apply to the token of --token-file, which has every scope")
    stopping = _stop_by_signals()
    own = _own_token(token_file, has_scopes=bool(scopes))
    options: dict[str, Any] = {
        "port": port,
        "platform": platform,
        "switches": {name: _value(text) for name, text in switches},
        "token": own,
        "host_names": flat(host_names),
    }
    chosen = flat(scopes) or None
    data = (
        f"the recording {replay}" if replay else f"the data of {db}" if db else "no data" if empty else "synthetic data"
    )
    if replay is not None:
        made = Sandbox.replay(replay, port=port)
    else:
        with _refused_switches():
            made = Sandbox(db=db, **options) if empty or db else Sandbox.demo(until=until, **options)
    with made as sandbox:
        token, granted = own or sandbox.issue_token(chosen), chosen or sandbox.scopes
        _announce(sandbox, data, granted)
        if as_json:
            click.echo(json.dumps({"base_url": sandbox.base_url, "token": token, "scopes": granted}))
        else:
            click.echo(f"export DATAACCESS_BASE_URL={sandbox.base_url}")
            click.echo(f"export DATAACCESS_TOKEN={shlex.quote(token)}")
        while not stopping.wait(_POLL_SECONDS):
            pass


@contextmanager
def _refused_switches() -> Iterator[None]:
    """A switch that is refused was typed wrong; other errors, as of a port in use, are those of the sandbox."""
    from dataaccess.errors import SandboxError

    try:
        yield
    except SandboxError as error:
        text = str(error)
        if text.startswith(("switch ", "there is no switch ")):
            raise CommandError(f"--switch: {text.removeprefix('switch ')}", USAGE) from None
        raise


def _stop_by_signals() -> threading.Event:
    stopping = threading.Event()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that `nohup` ignores stays ignored.
        if number is not None and (name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN):
            signal.signal(number, lambda *_: stopping.set())
    return stopping


def _own_token(file: str | None, *, has_scopes: bool) -> str | None:
    from dataaccess.errors import ConfigError
    from dataaccess.tokens import token_file

    if file is not None:
        return token_file(file)()
    token = os.environ.get(_TOKEN)
    if token and has_scopes:
        raise ConfigError(f"--scopes does not apply to the token of {_TOKEN}, which has every scope")
    return token or None


def _announce(sandbox: Sandbox, data: str, scopes: list[str]) -> None:
    note(f"Serving the Data Access API with {data}, until Ctrl-C:")
    note(_SERVED.format(url=sandbox.base_url))
    note(f"The token has the scopes {', '.join(scopes)}.")


def _value(text: str) -> Any:
    """A value of a switch: `none`, JSON, or a string, as `null` is."""
    if text == "none":
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return text if found is None else found
