"""Platforms: switches by a name, or in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dataaccess._core.checks import string
from dataaccess._core.paths import local_path
from dataaccess._sandbox.scenario import SUFFIXES, read_document
from dataaccess.errors import ConfigError

_HANOI = "Asia/Ho_Chi_Minh"

PLATFORMS: dict[str, dict[str, str]] = {
    "all-utc": {},
    "local-times": {"day_zone": _HANOI, "source_timezone": _HANOI},
    "other-zone-inclusive": {"day_zone": "Asia/Kolkata", "day_comparison": "inclusive"},
}
"""The switches of each platform that has a name. `all-utc` has the defaults."""


def switches_of(platform: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The switches of a platform, by its name or from a file."""
    if platform is None:
        return {}
    name = string("platform", os.fspath(platform) if isinstance(platform, os.PathLike) else platform)
    if name in PLATFORMS:
        return PLATFORMS[name]
    known = f"one of {', '.join(PLATFORMS)}, or a file with a table `switches`"
    if not name.endswith(SUFFIXES):
        raise ConfigError(f"platform must be {known}, not {name!r}")
    try:
        switches = read_document(Path(local_path(name))).get("switches")
    except ConfigError as error:
        raise ConfigError(f"platform: {error}") from None
    if not isinstance(switches, dict):
        raise ConfigError(f"platform must be {known}; {name} has no switches")
    return switches
