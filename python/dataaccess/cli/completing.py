"""What a shell completes: files, folders and values of options and arguments, by the name of the parameter.

The shell asks while somebody types: nothing here sends a request or fails, and only switches and platforms import
the core.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from click.shell_completion import CompletionItem

from dataaccess._client.profiles import config_path, read
from dataaccess._client.settings import SETTINGS
from dataaccess._contract import VALUES
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

_FILES = ("token_file", "admin_token_file", "file", "files", "ca_bundle", "replay", "scenario")
_FOLDERS = ("folder",)
# Values that may also be in a file, as `@FILE`.
_LISTS = ("attrs", "audience", "audience_type", "status", "matches", "raw")


def completions(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """What may follow what was typed of the value of a parameter; none if that is not known."""
    name = parameter.name or ""
    if name in _FILES:
        return [CompletionItem(typed, type="file")]
    if name == "platform" and not _platforms(typed):
        return [CompletionItem(typed, type="file")]
    if name in _FOLDERS:
        return [CompletionItem(typed, type="dir")]
    if name in _LISTS and typed.startswith("@"):
        return _behind_at(typed)
    known = _KNOWN.get(name)
    values = [] if known is None else known(context)
    # The last of several values.
    before, comma, last = typed.rpartition(",") if name in _LISTS else ("", "", typed)
    return [CompletionItem(f"{before}{comma}{value}") for value in values if value.startswith(last)]


def _behind_at(typed: str) -> list[CompletionItem]:
    """Files, with the `@` before each: a shell would look for a file of this name."""
    from pathlib import Path

    folder, slash, begin = typed[1:].rpartition("/")
    try:
        found = sorted(Path(f"{folder}{slash}" or ".").expanduser().iterdir())
    except (OSError, RuntimeError):
        # There is no such folder, or no such user.
        return []
    return [
        CompletionItem(f"@{folder}{slash}{path.name}{'/' if path.is_dir() else ''}")
        for path in found
        if path.name.startswith(begin) and not (path.name.startswith(".") and not begin)
    ]


def _attributes(context: click.Context) -> list[str]:
    # click does not assign arguments before an option whose value is being typed.
    given = (context.params.get("name"), *context.args)
    if context.info_name == "codes" or "promotion_code" in given:
        from dataaccess._types import PROMOTION_CODE_ATTRIBUTES  # a completion loads only what it shows

        return list(PROMOTION_CODE_ATTRIBUTES)
    declared = [value for name, value in _item_types(context).items() if name in given and isinstance(value, dict)]
    return [str(name) for value in declared for name in value.get("attributes") or {}]


def _names(context: click.Context) -> list[str]:
    return sorted({"customer", "promotion_code", *map(str, _item_types(context))})


def _item_types(context: click.Context) -> dict[Any, Any]:
    """The business objects of the profile that the command would use."""
    name = context.params.get("profile") or os.environ.get("DATAACCESS_PROFILE") or "default"
    profile = _tables().get(name)
    found = profile.get("item_types") if isinstance(profile, dict) else None
    try:
        found = SETTINGS["item_types"].of_text(found) if isinstance(found, str) else found
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _profiles(_context: click.Context) -> list[str]:
    return sorted(_tables())


def _tables() -> dict[str, Any]:
    """The profiles as they are written."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profiles: dict[str, Any] = read(config_path()).value
    except ConfigError:
        return {}
    return profiles


def _platforms(typed: str) -> list[str]:
    from dataaccess._sandbox.options import PLATFORMS  # loads the core

    return [name for name in PLATFORMS if name.startswith(typed)]


def _switches(_context: click.Context) -> list[str]:
    from dataaccess._native import SWITCHES  # loads the core

    return [f"{name}=" for name in SWITCHES]


_KNOWN: dict[str, Callable[[click.Context], list[str]]] = {
    "status": lambda _: list(VALUES["code_status"]),
    "audience_type": lambda _: list(VALUES["audience_type"]),
    "name": _names,
    "attrs": _attributes,
    "profile": _profiles,
    "platform": lambda _: _platforms(""),
    "switches": _switches,
}
