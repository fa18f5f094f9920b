"""Platforms: switches by a name, or as `dataaccess probe` found them at a service."""

from __future__ import annotations

import os
from typing import Any

from dataaccess._core.checks import string
from dataaccess._core.paths import local_path, read_file
from dataaccess._core.warn import warn_caller
from dataaccess._native import SWITCHES
from dataaccess.errors import ConfigError, SandboxWarning

_HANOI = "Asia/Ho_Chi_Minh"

PLATFORMS: dict[str, dict[str, str]] = {
    "all-utc": {},
    "local-times": {"day_zone": _HANOI, "source_timezone": _HANOI},
    "other-zone-inclusive": {"day_zone": "Asia/Kolkata", "day_comparison": "inclusive"},
}
"""The switches of each platform that has a name. `all-utc` has the defaults."""

FACTS = {
    "key_order": "code_first",
    "failed_code": "500",
    "attrs_separator": "comma",
    "unknown_object": "refused",
    "generic_operators": "accepted",
    "value_types": "refused",
    "condition_type": "refused",
    "extend_value": "refused",
    "data_types": "refused",
    "string_comparison": "case counts",
    "equals_values": "refused",
    "repeated_names": "refused",
    "declared_types": "refused",
    "refusal_data": "a string",
}
"""What a probe finds of a sandbox where no switch chooses."""


def switches_of(platform: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The switches of a platform, by its name or from the file that a probe wrote."""
    name = os.fspath(platform) if isinstance(platform, os.PathLike) else platform
    if name is None:
        return {}
    if string("platform", name) in PLATFORMS:
        return dict(PLATFORMS[name])
    found = _read(local_path(name))
    switches = found["switches"]
    others = [f"{each} = {switches[each]}" for each in switches if each not in SWITCHES]
    others += [f"{each} = {value}" for each, value in _facts(found) if FACTS.get(each) != value]
    if others:
        warn_caller(f"the sandbox does not behave as the platform of {name} in {', '.join(others)}", SandboxWarning)
    return {each: value for each, value in switches.items() if each in SWITCHES}


def _read(path: str) -> dict[str, Any]:
    """What a probe found, as JSON or TOML, with its switches."""
    import json
    import tomllib

    known = f"it is one of {', '.join(PLATFORMS)}, or a file that `dataaccess probe` wrote"
    try:
        text = read_file(path)[0].decode()
    except UnicodeDecodeError:
        text = ""
    except ValueError as error:
        raise ConfigError(f"platform: {path} {error}; {known}") from None
    except OSError as error:
        raise ConfigError(f"platform: cannot read {path}: {error.strerror}; {known}") from None
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError):
        found = {}
    if not isinstance(found.get("switches"), dict):
        raise ConfigError(f"platform: {path} has no switches; {known}")
    return dict(found)


def _facts(found: dict[str, Any]) -> list[tuple[str, object]]:
    """What the probe found, and no switch chooses. Only its JSON has values for that."""
    findings = found.get("findings")
    facts = [each for each in findings if isinstance(each, dict)] if isinstance(findings, list) else []
    return [
        (each["name"], each["value"])
        for each in facts
        if each.get("is_switch") is False and each.get("value") is not None and each.get("name") in FACTS
    ]
