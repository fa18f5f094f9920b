"""Serves the sandbox in this process, until it is stopped.

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
from dataaccess.cli.sandbox.requests import EndedRequests, request_line
from dataaccess.cli.sandbox.switches import switch_value
from dataaccess.cli.sandbox.tokens import ADMIN_TOKEN, TOKEN, token_of
from dataaccess.cli.streams import note
from dataaccess.cli.values import flat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from dataaccess.sandbox import Sandbox

_SERVED = f"""
  POST {{url}}{SEARCH_PATH}        promotion codes, customers
  POST {{url}}{DOWNLOAD_PATH}   segment exports
  GET  {{url}}/openapi.json                  the description of both
  GET  {{url}}/healthz                       whether it runs
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
    **data: Any,
) -> None:
    """Starts the sandbox, prints what a shell needs, and serves until a signal."""
    _check_data(**data)
    if data["replay"] is not None and (scopes or token_file or admin_token_file or host or allow_remote or host_names):
        raise click.UsageError("--replay takes --port, --json and --quiet alone: a recording has its own behavior")
    if scopes and token_file is not None:
        raise click.UsageError("--scopes does not apply to the token of --token-file, which has every scope")
    stopping = _stop_by_signals()
    own = _own_token(token_file, has_scopes=bool(scopes))
    access = {
        "port": port,
        "token": own,
        "admin_token": token_of(admin_token_file, ADMIN_TOKEN),
        "host_names": flat(host_names),
        "allow_remote": allow_remote,
        **({"host": host} if host is not None else {}),
    }
    with _started(access, **data) as sandbox:
        chosen = flat(scopes) or None
        token, granted = own or sandbox.issue_token(chosen), chosen or sandbox.scopes
        note(f"Serving the Data Access API with {_described(**data)}, until Ctrl-C:")
        note(_SERVED.format(url=sandbox.base_url))
        note(f"The token has the scopes {', '.join(granted)}.")
        # Containers keep what is printed, and who lets other machines connect has both tokens.
        tokens = {} if allow_remote else {"token": token, "admin_token": sandbox.admin_token}
        _print(sandbox.base_url, tokens, granted, as_json=as_json)
        ended = EndedRequests(sandbox._control.call)  # noqa: SLF001 - of this package
        is_stopped = False
        while not is_stopped:
            is_stopped = stopping.wait(_POLL_SECONDS)
            for request in [] if quiet else ended():
                note(request_line(request))


def _check_data(
    *,
    demo: bool,
    until: date | None,
    empty: bool,
    db: str | None,
    scenario: str | None,
    replay: str | None,
    seeds: list[Any],
    platform: str | None,
    switches: list[Any],
) -> None:
    """Refuses options that exclude each other."""
    chosen = [demo or until is not None, empty, db is not None, scenario is not None, replay is not None]
    if sum(chosen) > 1:
        names = "--demo or --until, --empty, --db, --scenario and --replay"
        raise click.UsageError(f"{names} exclude each other: write one")
    if (scenario is not None or replay is not None) and (seeds or platform is not None or switches):
        if scenario is not None:
            raise click.UsageError("--scenario has seeds, platform and switches: write them into its file")
        raise click.UsageError("--replay takes --port, --json and --quiet alone: a recording has its own behavior")


@contextmanager
def _started(
    access: dict[str, Any],
    *,
    demo: bool,
    until: date | None,
    empty: bool,
    db: str | None,
    scenario: str | None,
    replay: str | None,
    seeds: list[tuple[str | None, str]],
    platform: str | None,
    switches: list[tuple[str, str]],
) -> Iterator[Sandbox]:
    """The sandbox with its data, while the block runs."""
    from dataaccess.sandbox import Sandbox

    behavior: dict[str, Any] = {"switches": {name: switch_value(text) for name, text in switches}}
    behavior |= {} if platform is None else {"platform": platform}
    is_demo = demo or until is not None or not (empty or db is not None or seeds)
    with _typed_wrong(scenario):
        if replay is not None:
            made = Sandbox.replay(replay, port=access["port"])
        elif scenario is not None:
            made = Sandbox.scenario(scenario, **access)
        elif is_demo:
            made = Sandbox.demo(**({} if until is None else {"until": until}), **behavior, **access)
        else:
            made = Sandbox(db=db, **behavior, **access)
    with made as sandbox:
        with sandbox._starting(), _typed_wrong(None):  # noqa: SLF001 - of this package
            for name, path in seeds:
                # A file of a store has the rows of an earlier start.
                sandbox.seed(path, name=name, replace=db is not None)
        yield sandbox


def _described(
    *,
    empty: bool,
    db: str | None,
    scenario: str | None,
    replay: str | None,
    demo: bool,
    until: date | None,
    seeds: list[tuple[str | None, str]],
    **_: Any,
) -> str:
    """What is served."""
    if replay is not None:
        return f"the recording {replay}"
    if scenario is not None:
        return f"the scenario {scenario}"
    rows = [f"the rows of {', '.join(path for _, path in seeds)}"] if seeds else []
    if db is not None:
        return " and ".join([f"the data of {db}", *rows])
    if empty or (seeds and not demo and until is None):
        return "".join(rows) or "no data"
    return " and ".join([f"synthetic data{'' if until is None else f' up to {until}'}", *rows])


def _print(base_url: str, tokens: dict[str, str], scopes: list[str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"base_url": base_url, **tokens, "scopes": scopes}))
        return
    click.echo(f"export DATAACCESS_BASE_URL={base_url}")
    for name, variable in (("token", "DATAACCESS_TOKEN"), ("admin_token", ADMIN_TOKEN)):
        if name in tokens:
            click.echo(f"export {variable}={shlex.quote(tokens[name])}")


@contextmanager
def _typed_wrong(scenario: str | None) -> Iterator[None]:
    """A refused switch or file was typed wrong. Other errors, as of a port in use, are those of the sandbox."""
    from dataaccess._core.paths import local_path
    from dataaccess.errors import ConfigError, SandboxError

    try:
        yield
    except ConfigError as error:
        is_of_scenario = scenario is not None and str(error).startswith(local_path(scenario))
        if is_of_scenario or not error.arguments:
            raise CommandError(str(error), USAGE) from None
        raise
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

    if file is None and has_scopes and os.environ.get(TOKEN):
        raise ConfigError(f"--scopes does not apply to the token of {TOKEN}, which has every scope")
    return token_of(file, TOKEN)
