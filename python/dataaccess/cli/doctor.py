"""`dataaccess doctor`: what a client would use, where each value came from, and what the service says to it."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli import output
from dataaccess.cli.connection import connecting
from dataaccess.cli.ending import lines_of, message_of
from dataaccess.cli.parts import Command, option
from dataaccess.cli.streams import style
from dataaccess.errors import ConfigError, TransportError

if TYPE_CHECKING:
    from dataaccess import Client
    from dataaccess._client.check import ClientCheck
    from dataaccess.cli.connection import Connection
    from dataaccess.errors import DataAccessError

_EPILOG = """\b
Examples:
  dataaccess doctor
  dataaccess doctor --profile staging --day 2024-01-15
  dataaccess doctor --json > report.json
"""

# A problem that is no error of a request: a setting that is not right for the service.
_WRONG_SETTING = 1
# Always shown, though they are the default.
_SHOWN = ("base_url", "token", "profile", "timezone", "source_timezone", "day_comparison", "proxy", "ca_bundle")
_NOT_FOUND = 404
# What an error says about a failed connection to the proxy, and the step that failed.
_TO_THE_PROXY = {"cannot resolve the proxy": "dns", "connect to the proxy": "tcp"}
_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}

# The steps of what a day shows.
_FINDINGS = {"day": "day", "day_comparison": "ranges"}


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of the way to an accepted request; `ok` is None if it was not tried."""

    name: str
    ok: bool | None
    detail: str


@click.command("doctor", cls=Command, epilog=_EPILOG)
@option("--day", metavar="DAY", help="A day that has rows: they show whether zones and comparison are right.")
@option("--offline", is_flag=True, help="Show the configuration only, and send nothing.")
@option("--json", "as_json", is_flag=True, help="The report as JSON.")
@connecting()
@click.pass_context
def command(context: click.Context, day: str | None, connection: Connection, *, offline: bool, as_json: bool) -> None:
    """Check configuration, connection, token and scopes.

    Shows each setting with where it came from, and the steps of a request: DNS, TCP, proxy, TLS, token and scopes. Two
    requests are sent, with --day about 13, which change nothing. The token is shown nowhere.

    The exit code is 0 if one of the first two requests works: a token may have one scope alone. Else it is that of the
    error: 78 configuration, 69 or 75 connection, 77 token; 1 if only --timezone, --source-timezone or --day-comparison
    is wrong.
    """
    try:
        client = connection.client()
    except ConfigError as error:
        problems = lines_of(error)
        _show({"ok": False, "versions": _versions(), "problems": problems}, as_json=as_json)
        context.exit(error.exit_code)
    report: dict[str, Any] = {"ok": True, "versions": _versions(), "settings": _settings(client)}
    code = 0
    if not offline:
        check = client.check(day)
        code = _code(check)
        report |= {"ok": check.is_ok, "steps": _connection(client, check), "token": _token(check), "day": check.day}
        report |= {"is_day_right": check.is_day_right, "comparison": check.comparison}
        report["is_comparison_right"] = check.is_comparison_right
    _show(report, as_json=as_json)
    context.exit(code)


def _versions() -> str:
    return f"dataaccess {da.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def _settings(client: Client) -> dict[str, dict[str, Any]]:
    return {
        name: {"value": one.value, "source": "option" if one.source == "argument" else one.source}
        for name, one in client.settings.items()
    }


def _code(check: ClientCheck) -> int:
    if check.is_ok:
        return 0
    for error in check.errors.values():
        return error.exit_code
    return _WRONG_SETTING


def _connection(client: Client, check: ClientCheck) -> list[_Step]:
    """The steps to a response. The error of the core says which of them failed."""
    details = _details(client, check)
    names = list(details)
    failed, failure = _failed_step(check, names)
    if failed is None:
        return [_Step(name, True, detail) for name, detail in details.items()]
    number = names.index(failed)
    return [
        *(_Step(name, True, details[name]) for name in names[:number]),
        _Step(failed, None if failure is None else False, "not tried" if failure is None else _reason(failure)),
        *(_Step(name, None, "not tried") for name in names[number + 1 :]),
    ]


def _details(client: Client, check: ClientCheck) -> dict[str, str]:
    """What each step says when it succeeds."""
    from urllib.parse import urlsplit

    address = urlsplit(client.base_url)
    proxy = client.settings["proxy"].value
    details = {
        "dns": _addresses(str(proxy).rpartition(":")[0] if proxy else address.hostname or ""),
        "tcp": f"connected to {proxy or address.netloc}",
    }
    if proxy:
        details["proxy"] = f"{proxy} forwards to {address.netloc}"
    if address.scheme == "https":
        details["tls"] = (
            f"the certificate is trusted, by {client.settings['ca_bundle'].value or 'the CAs of the system'}"
        )
    return {**details, "http": f"the service responded, {check.seconds:.2f} s in all"}


def _failed_step(check: ClientCheck, names: list[str]) -> tuple[str | None, DataAccessError | None]:
    """The step that failed, if one did, and its error; without one nothing was sent."""
    if check.is_reachable:
        # A refused token is a response of the service, and so is a scope that is missing.
        if any(has is not None for has in check.scopes.values()):
            return None, None
        return "http", next(iter(check.errors.values()))
    failure = next((one for one in check.errors.values() if isinstance(one, TransportError)), None)
    if failure is None:
        return "dns", None
    phase = getattr(failure, "phase", None)
    if phase == "proxy":
        # What failed on the way to the proxy has the phase of the proxy too.
        phase = next((step for text, step in _TO_THE_PROXY.items() if text in str(failure)), phase)
    if phase in names:
        return str(phase), failure
    return "tcp" if phase == "connect" else "http", failure


def _reason(failure: DataAccessError) -> str:
    """The message of an error, and what to do about a wrong path."""
    advice = "; check the path of --base-url" if getattr(failure, "status", None) == _NOT_FOUND else ""
    return f"{message_of(failure)}{advice}"


def _addresses(host: str) -> str:
    import socket

    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return host
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    return f"{host} is an address" if addresses == [host] else f"{host} is {', '.join(addresses)}"


def _token(check: ClientCheck) -> list[_Step]:
    accepted = check._accepted()
    unusable = next((error for error in check.errors.values() if isinstance(error, ConfigError)), None)
    if unusable is not None:
        steps = [_Step("token", False, message_of(unusable))]
    elif accepted:
        steps = [_Step("token", {"accepted": True, "not accepted": False}.get(accepted), accepted)]
    else:
        steps = [_Step("token", None, "not known" if check.is_reachable else "not tried")]
    for scope, has in check.scopes.items():
        # What both requests failed of is the reason of a step above.
        reason = f": {_reason(check.errors[scope])}" if accepted and scope in check.errors else ""
        steps.append(_Step(f"scope {scope}", has, f"{check._scope(scope)}{reason}"))
    if "code_value_type" in check.errors:
        steps.append(_Step("codes", False, message_of(check.errors["code_value_type"])))
    findings = {
        "day": (check.day, check.is_day_right),
        "day_comparison": (check.comparison, check.is_comparison_right),
    }
    for name, (text, is_right) in findings.items():
        step = _FINDINGS[name]
        if text is not None:
            steps.append(_Step(step, is_right, text))
        elif name in check.errors:
            steps.append(_Step(step, None, f"not known: {_reason(check.errors[name])}"))
    return steps


def _show(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        output.write_json(_plain(report))
        return
    click.echo(report["versions"])
    for problem in report.get("problems", []):
        click.echo(_line(_Step("configuration", False, problem), len("configuration")))
    if "settings" in report:
        _show_settings(report["settings"])
    for title, name in (("Connection", "steps"), ("Token", "token")):
        if name in report:
            click.echo(f"\n{style(title, bold=True)}")
            width = max(len(step.name) for step in report[name])
            for step in report[name]:
                click.echo(_line(step, width))


def _show_settings(settings: dict[str, dict[str, Any]]) -> None:
    shown = {name: one for name, one in settings.items() if name in _SHOWN or one["source"] != "default"}
    values = {name: "none" if one["value"] is None else str(one["value"]) for name, one in shown.items()}
    width, size = max(map(len, values)), max(map(len, values.values()))
    click.echo(f"\n{style('Configuration', bold=True)}")
    for name, one in shown.items():
        source = style(one["source"], dim=one["source"] == "default")
        click.echo(f"  {name:{width}}  {values[name]:{size}}  {source}")
    if others := len(settings) - len(shown):
        click.echo(style(f"  {others} others are the defaults", dim=True))


def _line(step: _Step, width: int) -> str:
    mark, color = _MARKS[step.ok]
    return f"  {style(mark, fg=color)} {step.name:{width}}  {step.detail}"


def _plain(report: dict[str, Any]) -> dict[str, Any]:
    steps: dict[str, Any] = {
        name: [asdict(step) for step in report[name]] for name in ("steps", "token") if name in report
    }
    return {**report, **steps}
