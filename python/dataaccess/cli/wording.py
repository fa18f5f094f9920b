"""Texts of calls in the words of the command: options in place of arguments.

The options are those of the command that runs, by the names of its parameters: no list of them is kept here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dataaccess.errors import ValidationError

# Arguments of calls whose parameter has another name.
_ALIASES = {
    "allocated_audience": "audience",
    "code_status": "status",
    "path": "file",
    "token": "token_file",
    "where": "raw",
}
# What a program writes in another way, or only a program can do. A test looks each up in the sources.
PHRASES = {
    'Client("sandbox:demo")': "--base-url sandbox:demo",
    'on_suspected_cap="split"': "--split-capped",
    ", a list of these, or da.days(start, stop)": "",
    ", the last response is in .last": "",
    "; all entries are in .entries, and check=False returns them": "",
    "use .on(da.days(start, stop)) in a scan": "write --days COLUMN=START STOP",
    "by day (da.days) and by status, or use scan_codes, which can split requests": "by day (--days) and by status",
}
# `download_segment: the request was rejected …`
_CALL = re.compile(r"^(?:search|scan|validate)_(?:codes|items): |^(?:download|wait_for)_segment: ")
# `col("opened").after("2024-01-01")`
_CONDITION = re.compile(r'(?:& )?col\("(.+?)"\)\.(\w+)(?:\("(.+?)"\))?')
# `which to_csv does not write`
_FORMAT = re.compile(r"\bto_(\w+) does not write")
_VERBS = {"between": "days"}
_DAYS = re.compile(r'refresh=\[("[\d-]+"(?:, "[\d-]+")*)\]')
_SCHEMA = re.compile(r'schema=\{"(.+?)": "(\w+)"\}')
_COLUMN = re.compile(r'^--schema\["(.+?)"\]')
_KEYWORD = re.compile(r"\b([a-z][a-z_]*)=(?:True\b)?(?=([^\s,;)])?)")
_FIRST = re.compile(r"^(\w+)(?=(?:\[.*?\])?: )")
# Only names with an underscore: others are words of sentences too.
_NAME = re.compile(r"(?<![\w\"'`])[a-z]+(?:_[a-z]+)+(?![\w\"'`=])")


def options() -> dict[str, str]:
    """The options of the command that runs, by the names of arguments."""
    context = click.get_current_context(silent=True)
    if context is None:
        return {}
    found = {}
    for one in context.command.params:
        if one.name is not None:
            is_option = isinstance(one, click.Option)
            found[one.name] = max(one.opts, key=len) if is_option else one.make_metavar(context)
    return {**{name: found[own] for name, own in _ALIASES.items() if own in found}, **found}


def typed() -> set[str]:
    """The arguments whose options were written."""
    context = click.get_current_context(silent=True)
    if context is None:
        return set()
    written = {
        one.name
        for one in context.command.params
        if one.name and context.get_parameter_source(one.name) is click.core.ParameterSource.COMMANDLINE
    }
    return written | {name for name, own in _ALIASES.items() if own in written}


def arguments_in(text: str) -> set[str]:
    """The arguments that a text names, as `timeout=` or at its beginning."""
    return {found[1] for found in _KEYWORD.finditer(text)} | {found[1] for found in _FIRST.finditer(text)}


def for_options(text: str, names: dict[str, str] | None = None) -> str:
    """A message of a call, with the options in place of arguments.

    Args:
        text: The message.
        names: The options by argument; by default those of the command that runs.
    """
    known = options() if names is None else names
    for phrase, instead in PHRASES.items():
        if phrase in text:
            text = text.replace(phrase, _where_it_is(instead, known))
    text = _CALL.sub("", text)
    text = _FORMAT.sub(r"--format \1 does not write", text)
    text = _CONDITION.sub(_condition, text)
    text = _SCHEMA.sub(r"--schema \1=\2", text)
    text = _DAYS.sub(lambda days: " ".join(f"--refresh {day}" for day in re.findall(r"[\d-]+", days[1])), text)
    written = typed()
    text = _FIRST.sub(lambda found: known[found[1]] if found[1] in written & known.keys() else found[1], text)
    return _KEYWORD.sub(lambda found: _keyword(found, known), text)


def problems_for_options(error: ValidationError, own: dict[str, str]) -> str:
    """The problems of a request.

    Args:
        error: The refused request.
        own: The options by argument, where they differ from those of the command that runs.
    """
    names = {**options(), **own}
    lines = []
    for problem in error.problems:
        name = re.split(r"\W", problem.argument, maxsplit=1)[0]
        path = _COLUMN.sub(r"--schema \1", names.get(name, name) + problem.argument[len(name) :])
        message = problem.message
        # Of attributes it lists names, of which some are those of options too.
        if name != "attrs":
            message = _NAME.sub(lambda found: names.get(found[0], found[0]), message)
        message = for_options(message, names)
        # A condition names its own option.
        lines.append(message if message.startswith("--") else f"{path}: {message}")
    return "; ".join(lines) or for_options(str(error), names)


def _where_it_is(advice: str, known: dict[str, str]) -> str:
    """The advice to use an option, with the command that has it if this one has not."""
    context = click.get_current_context(silent=True)
    is_here = not advice.startswith("--split") or advice in known.values()
    if is_here or context is None:
        return advice
    return f"dataaccess scan {context.info_name} {advice}"


def _condition(found: re.Match[str]) -> str:
    column, verb, value = found.groups()
    return f"--{_VERBS.get(verb, verb)} {column}" + (f"={value}" if value else "")


def _keyword(found: re.Match[str], names: dict[str, str]) -> str:
    name, value = found.groups()
    if name in names:
        # `timeout=5` is two words of a command.
        return names[name] + (" " if value else "")
    from dataaccess._client.settings import SETTINGS

    # The other settings are in the profile, in TOML.
    if name in SETTINGS:
        return f"{name} = " if value else f"{name} (in the profile)"
    return found[0]
