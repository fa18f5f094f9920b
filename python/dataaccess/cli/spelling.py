"""Messages in the words of the command: options in place of arguments.

The options are those of the command that runs, by the names of its parameters: no list of them is kept here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import logging

    from dataaccess.errors import ValidationError
    from dataaccess.errors._text import Argument

# The parameters behind an argument or a condition that has another name. Of several, the one that was typed counts.
_PARAMETERS = {
    "admin_token": ("admin_token_file",),
    "allocated_audience": ("audience",),
    "allocated_time": ("on", "yesterday", "days", "month", "last", "since", "until", "after", "before"),
    "before": ("before", "days", "month", "last"),
    "code_status": ("status",),
    "item_type_name": ("name",),
    "on_suspected_cap": ("split_capped",),
    "path": ("file",),
    "since": ("since", "days", "month", "last"),
    "token": ("token_file",),
    "where": ("where", "raw"),
}
_TYPED = click.core.ParameterSource.COMMANDLINE
# What a call says, and what the command says instead.
_INSTEAD = {
    "on_doubt": "the response has no rows",
    "scan_codes": "dataaccess scan codes",
    "scan_items": "dataaccess scan items",
}
# What only a program can pass.
_OF_PROGRAMS = ("check",)


def spell(argument: Argument) -> str | None:
    """The option of the command that runs, or what the user can do instead; None for what only a program can do."""
    context = click.get_current_context(silent=True)
    if argument.name in _OF_PROGRAMS:
        return None
    if context is None:
        return argument.python
    option = _option(context, argument.name)
    if option is None:
        return _elsewhere(context, argument)
    is_of_where = "col(" in argument.python and context.get_parameter_source("where") is _TYPED
    # A token that is wrong and is not in the file comes from the environment.
    is_of_environment = argument.python == "token" and not _is_typed(context, option)
    if is_of_where or is_of_environment:
        return argument.python
    name = _name(context, option)
    if argument.value is None or getattr(option, "is_flag", False):
        return name
    is_quoted = " " in argument.value and option.nargs == 1
    return f'{name} "{argument.value}"' if is_quoted else f"{name} {argument.value}"


def was_typed(argument: str) -> bool:
    """Whether the option of an argument was typed."""
    context = click.get_current_context(silent=True)
    option = None if context is None else _option(context, argument)
    return context is not None and option is not None and _is_typed(context, option)


def in_options(message: Exception | str) -> str:
    """An error, a warning or a text in the words of the command."""
    from dataaccess.errors import DataAccessError, ValidationError
    from dataaccess.errors._text import spelled

    if isinstance(message, ValidationError):
        return "; ".join(_problems(message)) or message.spelled(spell)
    if isinstance(message, DataAccessError):
        return message.spelled(spell)
    return spelled(message if isinstance(message, str) else message.args[0], spell)


def log_line(record: logging.LogRecord) -> str:
    """The message of a log record in the words of the command."""
    if not isinstance(record.args, Mapping):
        return record.getMessage()
    given = {name: in_options(value) if isinstance(value, str) else value for name, value in record.args.items()}
    # The command has another name than the call.
    return str(record.msg % given).removeprefix(str(given.get("operation"))).lstrip(": ")


def _problems(error: ValidationError) -> list[str]:
    """The problems of a request, each with its option."""
    lines = []
    for problem in error.problems:
        message = in_options(problem.message)
        # A condition names its own option.
        lines.append(message if message.startswith("--") else f"{_place(problem.argument)}: {message}")
    return lines


def _place(place: str) -> str:
    """Where a problem is: `--status[1]` for `code_status[1]`, `--schema area` for `schema["area"]`."""
    from dataaccess.errors._text import Argument

    name, _, rest = place.partition("[")
    shown = spell(Argument(name, name)) or name
    if name == "schema":
        return f"{shown} {rest.removesuffix(']').strip(chr(34))}"
    return f"{shown}[{rest}" if rest else shown


def _option(context: click.Context, argument: str) -> click.Parameter | None:
    """The parameter of the command behind an argument."""
    known = {one.name: one for one in context.command.params}
    names = _PARAMETERS.get(argument, (argument,))
    found = [known[name] for name in names if name in known]
    own = known.get(argument) if len(names) > 1 else found[0] if found else None
    return next((one for one in found if _is_typed(context, one)), own)


def _is_typed(context: click.Context, option: click.Parameter) -> bool:
    return context.get_parameter_source(option.name or "") is _TYPED


def _name(context: click.Context, option: click.Parameter) -> str:
    # Each of the other options is a condition too.
    if option.name == "where" and not _is_typed(context, option):
        return "the conditions"
    return max(option.opts, key=len) if isinstance(option, click.Option) else option.make_metavar(context)


def _elsewhere(context: click.Context, argument: Argument) -> str:
    """What to do about an argument that the command that runs does not have."""
    from dataaccess._client.settings import SETTINGS

    if argument.name in _INSTEAD:
        return _INSTEAD[argument.name]
    if argument.name == "on_suspected_cap":
        return f"dataaccess scan {context.info_name} --split-capped"
    # The other settings are in the profile, in TOML.
    if argument.name in SETTINGS and argument.python != argument.name:
        is_alone = argument.value is None
        return f"{argument.name} (in the profile)" if is_alone else f"{argument.name} = {argument.value}"
    return argument.python
