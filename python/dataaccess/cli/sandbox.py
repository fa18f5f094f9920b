"""`dataaccess sandbox`: serves the sandbox in a process of its own, until it is stopped.

Lines for the shell go to standard output, lines for people to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from dataaccess.errors import ConfigError
from dataaccess.sandbox import Sandbox
from dataaccess.tokens import token_file

# Every user of the machine can read the arguments of a process; only its own user can read its environment and files.
_TOKEN = "DATAACCESS_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable

_DESCRIPTION = """\
Serve the whole Data Access API on this machine, for development and tests. The address and a token are
printed as lines for the shell; the service ends with Ctrl-C.
"""

_SERVED = """
  POST {url}/access/api/item/search        promotion codes, customers
  POST {url}/access/api/segment/download   segment exports
  GET  {url}/openapi.json                  the description of both
"""

# A wait without a timeout would not notice Ctrl-C on Windows.
_POLL_SECONDS = 0.5


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the subcommand."""
    # Without abbreviations: `--token abc` would read a token from a file abc, and print the name if there is none.
    parser = commands.add_parser("sandbox", help="serve the sandbox", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--port", type=_port, default=0, help="port on 127.0.0.1; default: a free one")
    token = parser.add_mutually_exclusive_group()
    token.add_argument("--scopes", nargs="+", metavar="SCOPE", help="scopes of the token; default: all")
    token.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"file with a token of your own, which has every scope and is the same at each start; or set {_TOKEN}",
    )
    parser.add_argument(
        "--host-names",
        nargs="+",
        default=[],
        metavar="NAME",
        help="host names that requests may use besides localhost, such as host.docker.internal",
    )
    parser.add_argument(
        "--switch",
        type=_switch,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="behaviour where the API specification is silent, such as latency=0.5; may be repeated",
    )
    data = parser.add_mutually_exclusive_group()
    data.add_argument("--demo", action="store_true", help="synthetic data, the same each time; the default")
    data.add_argument("--empty", action="store_true", help="no data")
    data.add_argument("--db", type=Path, metavar="FILE", help="the data of this file; made if it does not exist")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Serves until Ctrl-C, a request to terminate, or the end of the terminal."""
    stopping = threading.Event()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that `nohup` ignores stays ignored.
        if number is not None and (name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN):
            signal.signal(number, lambda *_: stopping.set())
    token = _own_token(given)
    with _start(given, token) as sandbox:
        _announce(sandbox, given, token)
        while not stopping.wait(_POLL_SECONDS):
            pass
    return 0


def _own_token(given: argparse.Namespace) -> str | None:
    if given.token_file:
        return token_file(given.token_file)()
    token = os.environ.get(_TOKEN)
    if token and given.scopes:
        raise ConfigError(f"--scopes does not apply to the token of {_TOKEN}, which has every scope")
    return token or None


def _start(given: argparse.Namespace, token: str | None) -> Sandbox:
    options = {
        "port": given.port,
        "switches": dict(given.switch),
        "token": token,
        "host_names": given.host_names,
    }
    if given.empty or given.db:
        return Sandbox(db=given.db, **options)
    return Sandbox.demo(**options)


def _announce(sandbox: Sandbox, given: argparse.Namespace, token: str | None) -> None:
    token = token or sandbox.issue_token(given.scopes)
    data = f"the data of {given.db}" if given.db else "no data" if given.empty else "synthetic data"
    print(f"Serving the Data Access API with {data}, until Ctrl-C:", file=sys.stderr)
    print(_SERVED.format(url=sandbox.base_url), file=sys.stderr)
    print(f"The token has the scopes {', '.join(given.scopes or sandbox.scopes)}.", file=sys.stderr, flush=True)
    print(f"export DATAACCESS_BASE_URL={sandbox.base_url}")
    print(f"export DATAACCESS_TOKEN={shlex.quote(token)}", flush=True)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) < 1 << 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")


def _switch(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"a switch is written NAME=VALUE, not {text!r}")
    try:
        return name, None if value == "none" else json.loads(value)
    except ValueError:
        return name, value
