"""The options that several commands have: which rows, where they go, and the connection to the service."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from datetime import datetime
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._client.settings import SETTINGS
from dataaccess._core.host import hosted
from dataaccess._display.text import cell
from dataaccess.cli import values
from dataaccess.cli.ending import is_typed
from dataaccess.cli.output import is_quiet, note
from dataaccess.cli.parts import all_of, option
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataaccess import Client

    Connect = Callable[..., Client]

# Columns of the reason of a retry.
_REASON = 200
_FORMATS = ["csv", "jsonl", "parquet"]

_days = partial(option, section="Days (one of these is required)")
_row = partial(option, section="Rows")
_list = partial(_row, type=values.listed, multiple=True, callback=values.flat)
_target = partial(option, section="Where they go")
_folder = partial(option, section="Only with --folder")
_setting = partial(option, section="Connection (other settings: as DATAACCESS_RETRY_FOR=10m, or in a profile)")

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
    _target(
        "--schema",
        "COLUMN=TYPE",
        "string, int64, float64, bool, timestamp, json.",
        type=values.pair("COLUMN=TYPE", "area=float64"),
        multiple=True,
    ),
    _target(
        "--split-capped on_suspected_cap",
        None,
        "Repeat requests that look capped in smaller parts.",
        flag_value="split",
        default="warn",
    ),
    _folder("--settle", "TIME", SETTLING, type=values.settle),
    _folder("--refresh", "DAYS", "Request again;", multiple=True),
    _folder("--accept", "DAYS", 'take as it is: a day, "last_days(3)", all.', is_beside=True, multiple=True),
    _folder("--requested-at", None, "Add a column with the time of each request."),
)
_OPTIONS = {
    "profile": _setting("--profile", "NAME", "Profile of the configuration file."),
    "base_url": _setting("--base-url", "URL", SETTINGS["base_url"].help),
    "token": _setting(
        "--token-file token", "FILE", "File with the token; or set DATAACCESS_TOKEN.", type=values.TOKEN_FILE
    ),
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

        # In a cron job, HOME or the folder of the profiles may be another one, which `Path.exists` may not read.
        path = config_path()
        is_there = os.path.exists(path)  # noqa: PTH110
        why = f"{path} has no profile default" if is_there else f"there is no file of profiles {path}"
        *lines, last = error.problems
        raise ConfigError.of([*lines, f"{last}; {why}"]) from None


def connecting(*left_out: str) -> Callable[[Any], Any]:
    """Adds the options for a client: the command gets one argument, `connect`, which makes it.

    Args:
        *left_out: Options that the command defines by itself.
    """
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
    is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not is_quiet()
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
