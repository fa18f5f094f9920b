"""What an unknown option may mean. No suggestion is better than a wrong one, which changes the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

# Names that other programs use. The first that the command has is meant.
_OTHER_NAMES = {
    "attributes": ["--attrs"],
    "columns": ["--attrs"],
    "fields": ["--attrs"],
    "date": ["--on", "--day"],
    "day": ["--on"],
    "from": ["--since"],
    "start": ["--since"],
    "range": ["--days"],
    "host": ["--base-url"],
    "server": ["--base-url"],
    "url": ["--base-url"],
    "address": ["--base-url"],
    "env": ["--profile"],
    "tz": ["--timezone"],
    "zone": ["--timezone"],
    "cacert": ["--ca-bundle"],
    "debug": ["--verbose"],
    "V": ["--version"],
    "dry-run": ["--explain"],
    "out": ["--output"],
    "file": ["--output"],
    "dir": ["--folder"],
    "max": ["--limit"],
    "n": ["--limit"],
    "where": ["--filter"],
}
# What no option of the command does.
_ELSEWHERE = {
    ("codes", "output"): "dataaccess scan codes --output FILE writes a file",
    ("items", "output"): "dataaccess scan items NAME --output FILE writes a file",
    ("codes", "o"): "dataaccess scan codes --output FILE writes a file",
    ("items", "o"): "dataaccess scan items NAME --output FILE writes a file",
    ("codes", "folder"): "dataaccess scan codes --folder FOLDER writes a folder",
    ("items", "folder"): "dataaccess scan items NAME --folder FOLDER writes a folder",
    ("scan codes", "limit"): "dataaccess codes --limit N ends with N rows; a scan writes all",
    ("scan items", "limit"): "dataaccess items NAME --limit N ends with N rows; a scan writes all",
}
# Whether the last day is meant too is not known.
_ENDS = ("to", "end", "stop")
_RANGE = (
    "--days START STOP is a range without STOP; --until DAY is an end that includes the day, --before DAY excludes it"
)
_NO_TOKEN = "no option takes a token: set DATAACCESS_TOKEN, or write it into a file for --token-file"  # noqa: S105
# Two words as different as `--timeout` and `--limit` are no typing error.
_CUTOFF = 0.75


def unknown_option(error: click.NoSuchOption) -> str:
    """The message about an option that a command does not have."""
    # Not of what follows `=`, which may be a secret.
    name = error.option_name.partition("=")[0]
    word = name.lstrip("-")
    if word in ("token", "access-token", "api-key"):
        return _NO_TOKEN
    text = f"there is no option {name}"
    context = error.ctx
    if context is None:
        return text
    known = [one for parameter in context.command.params for one in parameter.opts]
    if isinstance(context.command, click.Group) and _similar(name, known) is None:
        first = context.command.list_commands(context)[0]
        command = context.command.get_command(context, first)
        if command is not None and any(name in one.opts for one in command.params):
            example = f"{context.command_path} {first} {name}"
            return f"{text} before the command: write it after the command, as in {example}"
    path = context.command_path.partition(" ")[2]
    if (path, word) in _ELSEWHERE:
        return f"{text}; {_ELSEWHERE[path, word]}"
    if word in _ENDS and "--days" in known:
        return f"{text}; {_RANGE}"
    meant = next((one for one in _OTHER_NAMES.get(word, []) if one in known), None) or _similar(name, known)
    return f"{text}; did you mean {meant!r}?" if meant else text


def _similar(name: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    return next(
        iter(get_close_matches(name, [one for one in known if one.startswith("--")], n=1, cutoff=_CUTOFF)), None
    )
