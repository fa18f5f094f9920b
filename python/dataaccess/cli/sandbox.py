"""`dataaccess sandbox`: serves the sandbox in this process, until it is stopped.

Lines for the shell go to standard output, lines for people to standard error.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._contract import DOWNLOAD_PATH, SEARCH_PATH
from dataaccess._display.text import cell, size
from dataaccess.cli.ending import USAGE, CommandError, option_of
from dataaccess.cli.options import Command, option
from dataaccess.cli.output import note, wants
from dataaccess.cli.values import LIST, PATH, Whole, pair, switch_value, token
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess.sandbox import Sandbox
    from dataaccess.tokens import TokenFile

_TOKEN = "DATAACCESS_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable
_ADMIN_TOKEN = "DATAACCESS_SANDBOX_ADMIN_TOKEN"  # noqa: S105 - likewise

_data = partial(option, section="Data, one of")
_behavior = partial(option, section="Behavior where the API specification is silent")
_access = partial(option, section="Access")
_NAMES = ("all-utc", "local-times", "other-zone-inclusive")
_SWITCH = pair("NAME=VALUE", "latency=0.5")

_EXAMPLES = """\
sandbox --port 8080
sandbox --scenario night.toml
"""

_SERVED = f"""
  POST {{url}}{SEARCH_PATH}        promotion codes, customers
  POST {{url}}{DOWNLOAD_PATH}   segment exports
  GET  {{url}}/openapi.json                  the description of both
  GET  {{url}}/healthz                       whether it runs
  open {{url}}/__sandbox/                    a page with its requests, rows, faults and exports
"""

# A wait without a timeout would not notice Ctrl-C on Windows. The lines of requests are written after it too.
_POLL_SECONDS = 0.25
# Characters of the path of a request, and of what was asked.
_PATH, _ASKED = 60, 100


@click.command("sandbox", cls=Command, epilog=_EXAMPLES)
@_data("--until", "DAY", "Synthetic data up to this day. [the last 60 days]")
@_data("--empty", None, "No data.")
@_data("--scenario", "FILE", "Rows, switches, faults, exports of a TOML or JSON file.", type=PATH)
@_data("--replay", "FILE", "Responses that Client(record=FILE) recorded.", type=PATH)
@_behavior("--platform", "NAME", f"{', '.join(_NAMES)}, or a file.")
@_behavior("--switch switches", "NAME=VALUE", "One point, as latency=0.5.", type=_SWITCH, multiple=True)
@_access("--port", "PORT", "Port to listen on. [a free one]", type=Whole(0, 65535), default=0)
@_access("--scopes", "A,B", "Scopes of the token. [all]", **LIST)
@_access("--token-file token", "FILE", f"Own token; or set {_TOKEN}.", type=PATH, callback=token)
@_access("--admin-token-file admin_token", "FILE", f"Or set {_ADMIN_TOKEN}.", type=PATH, callback=token)
@_access("--host", "ADDRESS", "Address to listen on. [127.0.0.1]")
@_access("--allow-remote", None, "Permit other machines; needs both tokens.")
@_access("--host-names", "A,B", "Names besides localhost, as host.docker.internal.", **LIST)
def command(**given: Any) -> None:
    """Serve the sandbox on this machine.

    The sandbox is the whole Data Access API with synthetic data or your own. The address and the tokens are printed as
    lines for the shell. The service ends with Ctrl-C. Routes below /__sandbox control it, with the admin token.
    A --platform may be a TOML or JSON file with a table `switches`. Tokens for other machines have 32 characters or
    more.
    """
    _check(given)
    stopping = _stop_by_signals()
    scopes, own = given["scopes"], _token_of(given["token"], _TOKEN)
    access = {name: given[name] for name in ("port", "host", "host_names", "allow_remote") if given[name] is not None}
    access |= {"token": own, "admin_token": _token_of(given["admin_token"], _ADMIN_TOKEN)}
    try:
        sandbox, what = _started(access, given)
    except ConfigError as error:
        # A file was typed wrong. An option that the text names may come from the environment.
        if option_of(str(error)) is not None:
            raise
        raise CommandError(str(error), USAGE) from None
    except SandboxError as error:
        # A switch was typed wrong. Other errors, such as a port in use, come from the sandbox.
        text = str(error)
        if not text.startswith(("switch ", "there is no switch ")):
            raise
        raise CommandError(f"--switch: {text.removeprefix('switch ')}", USAGE) from None
    with sandbox:
        tokens = {"token": own or sandbox.issue_token(scopes), "admin_token": sandbox.admin_token}
        granted = scopes or sandbox.scopes
        note(f"Serving the Data Access API with {what}, until Ctrl-C:")
        note(_SERVED.format(url=sandbox.base_url))
        note(f"The token has the scopes {', '.join(granted)}.")
        # Containers keep what is printed, and who lets other machines connect has both tokens.
        _print(sandbox.base_url, {} if given["allow_remote"] else tokens, granted)
        requests = _ended(sandbox)
        is_stopped = False
        while not is_stopped:
            is_stopped = stopping.wait(_POLL_SECONDS)
            for request in [] if wants("quiet") else next(requests):
                note(_line(request))


def _check(given: dict[str, Any]) -> None:
    """Refuses options that exclude each other."""
    named = {name for name, value in given.items() if value not in (None, False, 0, ())}
    if len(named & {"until", "empty", "scenario", "replay"}) > 1:
        raise click.UsageError("--until, --empty, --scenario and --replay exclude each other: write one")
    if "scenario" in named and named & {"platform", "switches"}:
        raise click.UsageError("--scenario has platform and switches: write them into its file")
    if "replay" in named and named - {"replay", "port"}:
        advice = "a recording has the behavior of its service"
        raise click.UsageError(f"--replay takes --port, --json and --quiet alone: {advice}")
    if {"scopes", "token"} <= named:
        raise click.UsageError("--scopes does not apply to the token of --token-file, which has every scope")
    if "scopes" in named and os.environ.get(_TOKEN):
        raise ConfigError(f"--scopes does not apply to the token of {_TOKEN}, which has every scope")


def _started(access: dict[str, Any], data: dict[str, Any]) -> tuple[Sandbox, str]:
    """A sandbox with the data, and what it serves, for people."""
    if data["replay"] is not None:
        return da.Sandbox.replay(data["replay"], port=access["port"]), f"the recording {data['replay']}"
    if data["scenario"] is not None:
        return da.Sandbox.scenario(data["scenario"], **access), f"the scenario {data['scenario']}"
    behavior: dict[str, Any] = {"switches": {name: switch_value(text) for name, text in data["switches"]}}
    behavior |= {} if data["platform"] is None else {"platform": data["platform"]}
    if data["empty"]:
        return da.Sandbox(**behavior, **access), "no data"
    until = data["until"]
    named = f"synthetic data{'' if until is None else f' up to {until}'}"
    return da.Sandbox.demo(until=until, **behavior, **access), named


def _print(base_url: str, tokens: dict[str, str], scopes: list[str]) -> None:
    if wants("json"):
        click.echo(json.dumps({"base_url": base_url, **tokens, "scopes": scopes}))
        return
    click.echo(f"export DATAACCESS_BASE_URL={base_url}")
    for name, variable in (("token", "DATAACCESS_TOKEN"), ("admin_token", _ADMIN_TOKEN)):
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


def _token_of(file: TokenFile | None, variable: str) -> str | None:
    """The token of the file; without a file, of the variable, if it is set."""
    return os.environ.get(variable) or None if file is None else file()


def _ended(sandbox: Sandbox) -> Iterator[list[dict[str, Any]]]:
    """The requests whose response has ended since the last time, oldest first."""
    after, shown = 0, set[int]()
    while True:
        found = sandbox._control.call("GET", f"/requests?after={after}")
        running = [one["number"] for one in found["requests"] if one["duration_ms"] is None]
        ended = [one for one in found["requests"] if one["number"] not in {*running, *shown}]
        # A request in flight is looked at again.
        after = min(running) - 1 if running else found["next"]
        shown = {number for number in (*shown, *(one["number"] for one in ended)) if number > after}
        yield ended


def _line(request: dict[str, Any]) -> str:
    """A request in one line: method and path, what was asked, the response, its fault, and why it was refused."""
    # Without a status the connection ended before a response, as by a fault.
    status = "no response" if request["status"] is None else request["status"]
    parts = [request["method"], cell(request["path"], _PATH), cell(_asked(request["body"]), _ASKED), "->", status]
    parts += [None if request["bytes"] is None else size(request["bytes"]), f"{request['duration_ms']:.1f} ms"]
    parts += [request["fault"] and f"(fault {cell(request['fault'])})", cell(request["message"], _ASKED)]
    return " ".join(str(part) for part in parts if part)


def _asked(body: Any) -> str:
    """The object of a search, or the export of a download. The page has the conditions."""
    # A body may be anything.
    with suppress(AttributeError, LookupError, TypeError, ValueError, RecursionError):
        content = json.loads(body)
        return str(content.get("itemTypeName") or f"export {content['exportId']}")
    return ""
