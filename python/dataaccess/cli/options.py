"""Commands with their options in sections, and the options that several have: rows, where they go, the connection."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from datetime import datetime
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import augment_usage_errors

import dataaccess as da
from dataaccess._client.settings import SETTINGS
from dataaccess._core.host import hosted
from dataaccess._display.text import cell
from dataaccess.cli import values
from dataaccess.cli.ending import command_error, is_typed
from dataaccess.cli.output import keep, note, wants
from dataaccess.errors import ConfigError, DataAccessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataaccess import Client

# Makes the client of the options of a command.
Connect: TypeAlias = "Callable[..., Client]"

# Wider help is hard to read.
_WIDTH = 100
# The section of an option that names none.
_SECTION = "Options"
# Columns of the reason of a retry.
_REASON = 200
_FORMATS = ["csv", "jsonl", "parquet"]
_TYPE = values.pair("COLUMN=TYPE", "area=float64")


class Option(click.Option):
    """An option in a section of the help."""

    def __init__(self, *arguments: Any, section: str = _SECTION, is_beside: bool = False, **keywords: Any) -> None:
        """As `click.Option`. One that is beside another shares its line."""
        super().__init__(*arguments, **keywords)
        self.section, self.is_beside = section, is_beside

    def get_help_extra(self, ctx: click.Context) -> Any:
        """No more than the help: it has the default, and the range says little."""
        del ctx
        return {}


def option(names: str, metavar: str | None, text: str, **keywords: Any) -> Callable[[Any], Any]:
    """An option with its help; without a metavar it is a flag."""
    keywords |= {"is_flag": True} if metavar is None else {"metavar": metavar}
    return click.option(*names.split(), cls=Option, help=text, **keywords)


def all_of(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options, in this order in the help."""

    def add(function: Any) -> Any:
        for one in reversed(options):
            function = one(function)
        return function

    return add


class Command(click.Command):
    """A command with its options in sections, and with `--json` and `--quiet`, which `output` reads."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """As `click.Command`."""
        keywords["context_settings"] = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}
        super().__init__(*arguments, **keywords)
        kept: dict[str, Any] = {"is_flag": True, "expose_value": False, "callback": keep}
        of_quiet = "print only warnings and errors beside it."
        self.params.append(Option(["--json"], help="Print JSON (rows or a report);", **kept))
        self.params.append(Option(["--quiet"], help=of_quiet, is_beside=True, **kept))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuses an option that is given again: click would drop the first value."""
        # The parser does not say whose option it is.
        with augment_usage_errors(ctx):
            if not ctx.resilient_parsing:
                self._refuse_repeated(ctx, args)
            return super().parse_args(ctx, args)

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        names = {name for one in self.params if isinstance(one, Option) for name in one.opts}
        for one in order:
            if not isinstance(one, Option) or one.is_flag:
                continue
            name, value = max(one.opts, key=len), values[one.name or ""]
            if taken := names.intersection([value] if isinstance(value, str) else value):
                raise click.UsageError(f"{name} takes {one.metavar} before {taken.pop()}", ctx)
            if not one.multiple and order.count(one) > 1:
                raise click.UsageError(f"{name} is given {order.count(one)} times, and takes one value", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Errors of calls name its options; what was typed wrong is an error of usage."""
        try:
            return super().invoke(ctx)
        except DataAccessError as error:
            raise command_error(error) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section, without empty lines between them; those that every command has come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.params:
            if not isinstance(one, Option):
                # The text above them describes arguments.
                continue
            names, text = one.get_help_record(ctx) or ("", "")
            records = sections.setdefault(one.section, [])
            if one.is_beside:
                before, text_before = records.pop()
                names, text = f"{before.removesuffix(f' {one.metavar}')}, {names}", f"{text_before} {text}"
            records.append((names, text))
        sections[_SECTION] = sections.pop(_SECTION)
        formatter.write_paragraph()
        for title, records in sections.items():
            formatter.write_heading(title)
            with formatter.indentation():
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, a line each."""
        formatter.write_heading("Examples")
        formatter.write("".join(f"  dataaccess {line}\n" for line in (self.epilog or "").splitlines()))


_days = partial(option, section="Days (one of these is required)")
_row = partial(option, section="Rows")
_list = partial(_row, **values.LIST)
_target = partial(option, section="Where they go")
_folder = partial(option, section="Only with --folder")
_setting = partial(option, section="Connection (other settings: as DATAACCESS_RETRY_FOR=10m, or in a profile)")
_token = partial(_setting, type=values.PATH, callback=values.token)

SETTLING = "How long a day may change after its end, as 3d. [1h]"

_ATTRIBUTES = all_of(
    _list("--attrs", "A,B", "Attributes to return, in this order; needed for items."),
    _row("--limit", "N", "Number of rows, at most.", type=values.Whole(min=1)),
)
CODES = all_of(
    _days("--on", "DAY", "Allocated on 2024-01-31, yesterday or today."),
    _days("--days", "START STOP", "Each day before STOP: a request a day.", nargs=2),
    _days("--last", "N", "The last N days that are over: a request a day.", type=values.Whole(min=1)),
    _days("--since", "DAY", "Allocated on this day or later;"),
    _days("--until", "DAY", "on this day or earlier.", is_beside=True),
    _days("--where", "TEXT", "A condition, such as \"month('2024-01')\"; @FILE.", type=values.condition),
    _list("--status code_status", "A,B", "available, sent, used; or their numbers.", callback=values.numbered),
    _list("--audience-type", "A,B", "customer, visitor; or their numbers; needs --audience.", callback=values.numbered),
    _list("--audience allocated_audience", "ID,ID", "Ids of customers or visitors; @FILE: one a line."),
    _ATTRIBUTES,
)
ITEMS = all_of(
    click.argument("item_type_name", metavar="NAME"),
    _row("--matches", "COLUMN=A,B", "Has one of these; COLUMN=@FILE, COLUMN:=1,2.", type=values.matches, multiple=True),
    _row("--where", "TEXT", "A condition, such as \"col('vip').equals(1)\"; @FILE.", type=values.condition),
    _row("--item-type-id", "ID", "Id of an object of your own.", type=int),
    _ATTRIBUTES,
)
WRITING = all_of(
    _target("-o --output path", "FILE", "One file: .parquet, .csv, .tsv or .jsonl.", type=values.PATH),
    _target("--folder", "DIR", "One Parquet file a request; run it again to resume.", type=values.PATH),
    _target("--format kind", "NAME", "csv, jsonl or parquet, if no suffix says it.", type=click.Choice(_FORMATS)),
    _target("--explain", None, "Print plan and requests, and send nothing."),
    _target("--strict", None, "Write nothing (exit 65) if data look wrong;"),
    _target("--fail-empty", None, "if there are no rows.", is_beside=True),
    _target("--schema", "COLUMN=TYPE", "string, int64, float64, bool, timestamp, json.", type=_TYPE, multiple=True),
    _target("--split-capped on_suspected_cap", None, "Repeat requests that look capped in smaller parts."),
    _folder("--settle", "TIME", SETTLING, type=values.settle),
    _folder("--refresh", "DAYS", "Request again;", multiple=True),
    _folder("--accept", "DAYS", 'take as it is: a day, "last_days(3)", all.', is_beside=True, multiple=True),
    _folder("--requested-at", None, "Add a column with the time of each request."),
)
_OPTIONS = {
    "profile": _setting("--profile", "NAME", "Profile of the configuration file."),
    "base_url": _setting("--base-url", "URL", SETTINGS["base_url"].help),
    "token": _token("--token-file token", "FILE", "File with the token; or set DATAACCESS_TOKEN."),
    "timezone": _setting("--timezone", "ZONE", f"{SETTINGS['timezone'].help} [UTC]"),
    "timeout": _setting("--timeout", "TIME", "Limit of a request, such as 90s. [5m]", type=values.duration),
    "verbose": _setting("-v --verbose", None, "Log each request to standard error."),
}


def _client(given: dict[str, Any], *, is_used: bool = True) -> Client:
    """A client of the settings that were given. One that is not used needs neither an address nor a token."""
    options = {name: value for name, value in given.items() if value is not None}
    has_address = any([options.get("base_url"), options.get("profile"), os.environ.get("DATAACCESS_BASE_URL")])
    if not is_used:
        options = {"token": "-", **options}
    try:
        with hosted("cli"):
            return da.Client(**options)
    except ConfigError as error:
        if not is_used and not has_address:
            return da.Client(**{**options, "base_url": "http://localhost"})
        if has_address or is_typed(error):
            raise
        from dataaccess._client.profiles import config_path  # `--help` needs no profiles

        # In a cron job, HOME or the folder of the profiles may be another one.
        *lines, last = error.problems
        raise ConfigError.of([*lines, f"{last}; there is no profile default in {config_path()}"]) from None


def connecting(*left_out: str) -> Callable[[Any], Any]:
    """Adds the options for a client, less those that the command defines itself: it gets `connect`, which makes it."""
    chosen = {name: one for name, one in _OPTIONS.items() if name not in left_out}

    def add(function: Any) -> Any:
        @wraps(function)
        def call(**arguments: Any) -> Any:
            given = {name: arguments.pop(name) for name in chosen}
            with _logged(is_verbose=given.pop("verbose")):
                return function(connect=partial(_client, given), **arguments)

        return all_of(*chosen.values())(call)

    return add


@contextmanager
def _logged(*, is_verbose: bool) -> Iterator[None]:
    """Prints all records of the log; otherwise, in a terminal, why a request is retried: until then there is no bar."""
    is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not wants("quiet")
    logger, handler = logging.getLogger("dataaccess" if is_verbose else "dataaccess.retry"), logging.Handler()
    line = _record if is_verbose else _retry
    handler.emit = lambda record: note(line(record))  # type: ignore[method-assign] # the only one of this handler
    before = logger.level
    if is_verbose:
        logger.setLevel(logging.DEBUG)
    if is_verbose or is_shown:
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _record(record: logging.LogRecord) -> str:
    time = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
    return f"{time} dataaccess: {record.getMessage()}"


def _retry(record: logging.LogRecord) -> str:
    fields = record.__dict__
    # A bar is drawn again below the line.
    return f"\r\x1b[Kretry in {fields['delay']:.1f} s: {cell(fields['detail'], _REASON)}"
