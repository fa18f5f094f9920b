"""The options that say which rows: of codes and of items, and the scan that they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce, wraps
from operator import and_
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._contract import PROMOTION_CODE
from dataaccess.cli.parts import all_of, option
from dataaccess.cli.times import time_of_codes, time_of_column
from dataaccess.cli.values import ColumnDay, Condition, Filter, List, Matches, Pair, Whole, flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from dataaccess import Client, Scan
    from dataaccess.filters import Expression

_SECTION = "Rows"
_DAY = "DAY is 2024-01-31, yesterday or today; of a time as 2024-01-31T09:30 its whole day counts."
_TIMES = ("on", "since", "until", "after", "before", "days", "month", "last", "yesterday")

_FILTER = option(
    "--filter",
    "raw",
    type=Filter(),
    metavar="JSON",
    section=_SECTION,
    help='Filters of the API specification, {"OR": [{"AND": […]}]}; @FILE or @- reads them.',
)
_ATTRS = option(
    "--attrs", type=List(), multiple=True, metavar="A,B", section=_SECTION, help="Attributes to return, in this order."
)
LIMIT = option("--limit", type=Whole(min=1), metavar="N", section=_SECTION, help="Number of rows, at most.")


def _completions(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    from dataaccess.cli.completing import completions  # for shells only

    return completions(context, parameter, typed)


_CODES = all_of(
    [
        _ATTRS,
        option("--on", metavar="DAY", section=_SECTION, help=f"Allocated on this day. {_DAY}"),
        option("--yesterday", is_flag=True, section=_SECTION, help="Allocated yesterday, in --timezone."),
        option(
            "--days", nargs=2, metavar="START STOP", section=_SECTION, help="Each day before STOP: a request a day."
        ),
        option("--month", metavar="MONTH", section=_SECTION, help="Each day of a month as 2024-01: a request a day."),
        option(
            "--last",
            type=Whole(min=1),
            metavar="N",
            section=_SECTION,
            help="The last N days that are over, in --timezone: a request a day.",
        ),
        option("--since", metavar="DAY", section=_SECTION, help="Allocated on this day or later."),
        option("--until", metavar="DAY", section=_SECTION, help="Allocated on this day or earlier."),
        option("--after", metavar="DAY", section=_SECTION, help="Allocated after this day."),
        option("--before", metavar="DAY", section=_SECTION, help="Allocated before this day."),
        option(
            "--status",
            type=List(),
            multiple=True,
            metavar="A,B",
            section=_SECTION,
            help="available, sent, used; or their numbers.",
        ),
        option(
            "--audience-type",
            type=List(),
            multiple=True,
            metavar="A,B",
            section=_SECTION,
            help="customer, visitor; or their numbers. Needs --audience.",
        ),
        option(
            "--audience",
            type=List(),
            multiple=True,
            metavar="ID,ID",
            section=_SECTION,
            help="Ids of customers or visitors; @FILE has one a line.",
        ),
        _FILTER,
    ]
)
_ITEMS = all_of(
    [
        click.argument("name", shell_complete=_completions),
        _ATTRS,
        option("--item-type-id", type=int, metavar="ID", section=_SECTION, help="Id of an object of your own."),
        option(
            "--matches",
            type=Matches(),
            multiple=True,
            metavar="COLUMN=A,B",
            section=_SECTION,
            help="Column has one of the values; COLUMN=@FILE has one a line, COLUMN:=1,2 are numbers.",
        ),
        option("--on", type=ColumnDay(), metavar="COLUMN=DAY", section=_SECTION, help=f"Time on this day. {_DAY}"),
        option("--yesterday", metavar="COLUMN", section=_SECTION, help="Time on the day before today, in --timezone."),
        option(
            "--days",
            type=(ColumnDay(), str),
            metavar="COLUMN=START STOP",
            section=_SECTION,
            help="Time from START on, and before STOP.",
        ),
        option(
            "--month",
            type=Pair("COLUMN=MONTH", "opened=2024-01"),
            metavar="COLUMN=MONTH",
            section=_SECTION,
            help="Time in a month as 2024-01.",
        ),
        option(
            "--last",
            type=Pair("COLUMN=N", "opened=30"),
            metavar="COLUMN=N",
            section=_SECTION,
            help="Time on one of the last N days that are over, in --timezone.",
        ),
        option("--since", type=ColumnDay(), metavar="COLUMN=DAY", section=_SECTION, help="Time on this day or later."),
        option(
            "--until", type=ColumnDay(), metavar="COLUMN=DAY", section=_SECTION, help="Time on this day or earlier."
        ),
        option("--after", type=ColumnDay(), metavar="COLUMN=DAY", section=_SECTION, help="Time after this day."),
        option("--before", type=ColumnDay(), metavar="COLUMN=DAY", section=_SECTION, help="Time before this day."),
        option(
            "--where",
            type=Condition(),
            metavar="CONDITION",
            section=_SECTION,
            help="Any condition, as in Python: \"col('opened').on('2024-01-31') | col('vip').equals(1)\".",
        ),
        _FILTER,
    ]
)


@dataclass(frozen=True, slots=True)
class Search:
    """A search by its options: the call and its arguments."""

    call: str
    arguments: dict[str, Any]
    # What depends on the zone of the client, such as `yesterday`.
    of_zone: Callable[[str], dict[str, Any]] = lambda _: {}

    def scan(self, client: Client, **more: Any) -> Scan:
        """The scan. Sends nothing."""
        arguments = {**self.arguments, **self.of_zone(client.timezone), **more}
        scan: Scan = getattr(client, f"scan_{self.call}")(**arguments)
        return scan


def codes(function: Any) -> Any:
    """Adds the options of a search of promotion codes: the command gets one argument, `search`."""

    @wraps(function)
    def call(**values: Any) -> Any:
        names = ("attrs", *_TIMES, "status", "audience_type", "audience", "raw")
        return function(search=_codes(**{name: values.pop(name) for name in names}), **values)

    return _CODES(call)


def items(function: Any) -> Any:
    """Adds the options of a search of items: the command gets one argument, `search`."""

    @wraps(function)
    def call(**values: Any) -> Any:
        names = ("name", "attrs", "item_type_id", "matches", *_TIMES, "where", "raw")
        return function(search=_items(**{name: values.pop(name) for name in names}), **values)

    return _ITEMS(call)


def _codes(
    *, attrs: list[list[str]], raw: dict[str, Any] | None, status: Any, audience_type: Any, audience: Any, **times: Any
) -> Search:
    attributes = flat(attrs) or None
    given = _typed(times)
    lists = {"--status": status, "--audience-type": audience_type, "--audience": audience}
    if raw is not None:
        _check_alone([*(f"--{name}" for name in given), *(name for name, value in lists.items() if value)])
        raw_arguments = {
            "item_type_name": "promotion_code",
            "attrs": attributes or [name for name in da.PROMOTION_CODE_ATTRIBUTES if name != "channel_id"],
            "where": raw,
        }
        return Search("items", raw_arguments)
    if len(given) != 1:
        what = "several of them are given" if given else "none is given"
        advice = (
            "write one of --on, --since, --until, --after and --before; for a range --days START STOP, --month MONTH "
            "or --last N"
        )
        raise click.UsageError(f"a search of codes has one time condition, and {what}: {advice}")
    ((name, value),) = given.items()
    arguments: dict[str, Any] = {
        "attrs": attributes,
        "code_status": [_number(one) for one in flat(status)] or None,
        "audience_type": [_number(one) for one in flat(audience_type)] or None,
        "allocated_audience": flat(audience) or None,
    }

    return Search("codes", arguments, lambda zone: {"allocated_time": time_of_codes(name, value, zone)})


def _items(
    *,
    name: str,
    attrs: list[list[str]],
    item_type_id: int | None,
    matches: list[tuple[str, list[Any]]],
    where: Expression | None,
    raw: dict[str, Any] | None,
    **times: Any,
) -> Search:
    given = _typed(times)
    if raw is not None:
        _check_alone(
            [
                *(f"--{name}" for name in given),
                *(["--matches"] if matches else []),
                *(["--where"] if where is not None else []),
            ]
        )
    elif (name == "promotion_code" or item_type_id == PROMOTION_CODE) and (
        given.keys() & {"days", "month", "last"} or len(given) > 1
    ):
        raise click.UsageError("promotion codes take one time condition: for a range use `dataaccess codes --days`")
    if not attrs:
        raise click.UsageError("missing option --attrs: write the attributes to return, as --attrs customer_id,name")
    arguments = {
        "item_type_name": name,
        "attrs": flat(attrs),
        "item_type_id": item_type_id,
    }
    return Search(
        "items", arguments, lambda zone: {"where": _conditions(matches, given, where, zone) if raw is None else raw}
    )


def _conditions(
    matches: list[tuple[str, list[Any]]], times: dict[str, Any], where: Expression | None, zone: str
) -> Any:
    """All conditions together; None if there is none."""
    # The values of one column belong together, however often the option is given.
    columns: dict[str, list[Any]] = {}
    for column, values in matches:
        columns.setdefault(column, []).extend(values)
    parts = [da.col(column).matches(values) for column, values in columns.items()]
    for kind, value in times.items():
        parts.append(time_of_column(kind, value, zone))
    if where is not None:
        parts.append(where)
    return reduce(and_, parts) if parts else None


def _typed(times: dict[str, Any]) -> dict[str, Any]:
    """The time conditions that were given. A flag is false, and not None, where it was not."""
    return {name: value for name, value in times.items() if value is not None and value is not False}


def _check_alone(others: list[str]) -> None:
    if others:
        raise click.UsageError(f"--filter is the whole filter: leave out {', '.join(others)}")


def _number(text: str) -> str | int:
    """A number for a status or type that is given by its number."""
    return int(text) if text.removeprefix("-").isdecimal() else text
