"""Serves the sandbox in this process, until it is stopped.

Lines for the shell go to standard output, lines for people to standard error.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._contract import DOWNLOAD_PATH, SEARCH_PATH
from dataaccess.cli.ending import USAGE, CommandError
from dataaccess.cli.sandbox import ADMIN_TOKEN, TOKEN
from dataaccess.cli.sandbox.data import REPLAYED, ServedData
from dataaccess.cli.sandbox.requests import EndedRequests, request_line
from dataaccess.cli.streams import note
from dataaccess.cli.values import flat
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from dataaccess.sandbox import Sandbox

_SERVED = f"""
  POST {{url}}{SEARCH_PATH}        promotion codes, customers
  POST {{url}}{DOWNLOAD_PATH}   segment exports
  GET  {{url}}/openapi.json                  the description of both
  GET  {{url}}/healthz                       whether it runs
  open {{url}}/__sandbox/                    a page with its requests, rows, faults and exports
"""

# A wait without a timeout would not notice Ctrl-C on Windows. The lines of requests are written after it too.
_POLL_SECONDS = 0.25


def serve(
    *,
    port: int,
    scopes: list[list[str]],
    token_file: str | None,
    admin_token_file: str | None,
    as_json: bool,
    quiet: bool,
    host: str | None,
    allow_remote: bool,
    host_names: list[list[str]],
    **options: Any,
) -> None:
    """Starts the sandbox, prints what a shell needs, and serves until a signal."""
    data = ServedData(**options)
    data.check()
    if data.replay is not None and (scopes or token_file or admin_token_file or host or allow_remote or host_names):
        raise click.UsageError(REPLAYED)
    if scopes and token_file is not None:
        raise click.UsageError("--scopes does not apply to the token of --token-file, which has every scope")
    stopping = _stop_by_signals()
    own = _own_token(token_file, has_scopes=bool(scopes))
    access = {
        "port": port,
        "token": own,
        "admin_token": _token_of(admin_token_file, ADMIN_TOKEN),
        "host_names": flat(host_names),
        "allow_remote": allow_remote,
        **({"host": host} if host is not None else {}),
    }
    with data.start(access) as sandbox:
        chosen = flat(scopes) or None
        token, granted = own or _issued(sandbox, chosen), chosen or sandbox.scopes
        note(f"Serving the Data Access API with {data}, until Ctrl-C:")
        note(_SERVED.format(url=sandbox.base_url))
        note(f"The token has the scopes {', '.join(granted)}.")
        # Containers keep what is printed, and who lets other machines connect has both tokens.
        tokens = {} if allow_remote else {"token": token, "admin_token": sandbox.admin_token}
        _print(sandbox.base_url, tokens, granted, as_json=as_json)
        ended = EndedRequests(sandbox._control.call)
        is_stopped = False
        while not is_stopped:
            is_stopped = stopping.wait(_POLL_SECONDS)
            for request in [] if quiet else ended():
                note(request_line(request))


def _issued(sandbox: Sandbox, scopes: list[str] | None) -> str:
    """A token. Its scopes were typed, and the sandbox knows no options."""
    try:
        return sandbox.issue_token(scopes)
    except ConfigError as error:
        raise CommandError(f"--{error}", USAGE) from None


def _print(base_url: str, tokens: dict[str, str], scopes: list[str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"base_url": base_url, **tokens, "scopes": scopes}))
        return
    click.echo(f"export DATAACCESS_BASE_URL={base_url}")
    for name, variable in (("token", "DATAACCESS_TOKEN"), ("admin_token", ADMIN_TOKEN)):
        if name in tokens:
            click.echo(f"export {variable}={shlex.quote(tokens[name])}")


def _stop_by_signals() -> threading.Event:
    stopping = threading.Event()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that `nohup` ignores stays ignored.
        if number is not None and (name != "SIGHUP" or signal.getsignal(number) != signal.SIG_IGN):
            signal.signal(number, lambda *_: stopping.set())
    return stopping


def _own_token(file: str | None, *, has_scopes: bool) -> str | None:
    if file is None and has_scopes and os.environ.get(TOKEN):
        raise ConfigError(f"--scopes does not apply to the token of {TOKEN}, which has every scope")
    return _token_of(file, TOKEN)


def _token_of(file: str | None, variable: str) -> str | None:
    """The token of the file; without a file, of the variable, if it is set."""
    if file is None:
        return os.environ.get(variable) or None
    return da.token_file(file)()
