"""Profiles: settings by name in a file of the user. It imports no core, as completion reads the names."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from dataaccess._client.settings import SETTINGS
from dataaccess._core.secret import Secret
from dataaccess._core.warn import warn_caller
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError, DataAccessWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_KEYS = [*SETTINGS, "token", "token_file"]
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Profile(NamedTuple):
    """A profile: its name, its file, and its settings, which are not checked."""

    name: str
    path: Path
    settings: Secret

    def token(self) -> str:
        """Reads the token, each time it is called: a changed file is followed."""
        profile = Secret(read(self.path).value.get(self.name))
        token = Secret(profile.value.get("token") if isinstance(profile.value, dict) else None)
        if isinstance(token.value, str) and token.value:
            return token.value
        raise ConfigError(f"{self} has no token any more")

    def token_source(self) -> Callable[[], str] | None:
        """What reads the token, if the profile has one. A path of another type is reported as a mistake."""
        if isinstance(path := self.settings.value.get("token_file"), str) and "\0" not in path:
            from dataaccess.tokens import token_file  # as in `resolve`

            return token_file(self.path.parent / os.path.expanduser(path))  # noqa: PTH111 - never raises
        return self.token if {"token", "token_file"} & self.settings.value.keys() else None

    def mistakes(self) -> Iterator[str]:
        """What is wrong with each key that is no setting."""
        for name, value in self.settings.value.items():
            if name not in _KEYS:
                yield f"{name} is not a setting{did_you_mean(name, _KEYS)}"
            elif name not in SETTINGS and not (isinstance(value, str) and value):
                yield f"{name} must be a string that is not empty, not of type {type(value).__name__}"
        if {"token", "token_file"} <= self.settings.value.keys():
            yield "token and token_file are both set: leave one out"

    def __str__(self) -> str:
        return f"profile {self.name} in {self.path}"


def config_path() -> Path:
    """The file with the profiles, whether it exists or not."""
    # Most clients have an address, and no profile.
    from pathlib import Path

    if sys.platform == "win32":
        folder = os.environ.get("APPDATA") or os.path.expanduser(r"~\AppData\Roaming")  # noqa: PTH111 - as below
    else:
        folder = os.environ.get("XDG_CONFIG_HOME", "")
        # A relative path is invalid: https://specifications.freedesktop.org/basedir-spec
        folder = folder if os.path.isabs(folder) else os.path.expanduser("~/.config")  # noqa: PTH111, PTH117 - never raises
    return Path(folder) / "dataaccess" / "config.toml"


def read(path: Path) -> Secret:
    """All profiles of a file by name; none if there is no file. An error quotes only names of profiles."""
    import tomllib

    profiles, problem, mode = Secret({}), "", 0
    # Of a folder that cannot be searched, too, no file is read.
    if not os.path.exists(path):  # noqa: PTH110 - `Path.exists` may raise
        return profiles
    try:
        with path.open("rb") as file:
            profiles.value, mode = tomllib.load(file), os.fstat(file.fileno()).st_mode
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except (ValueError, RecursionError) as error:
        # The rest of the message may quote the file.
        _, at, place = str(error).rpartition("(at ")
        problem = f"is not TOML in UTF-8 {at}{place if at else ''}".rstrip()
    if not problem and profiles.value.keys() - {"profiles"}:
        problem = "has keys outside of [profiles.NAME]"
    # Not from within: the frames that read the file have its text.
    if problem:
        raise ConfigError(f"{path} {problem}")
    profiles.value = profiles.value.get("profiles", {})
    if not isinstance(profiles.value, dict):
        raise ConfigError(f"{path}: profiles must be tables: write [profiles.NAME]")
    has_token = any(isinstance(profile, dict) and "token" in profile for profile in profiles.value.values())
    # On Windows the mode does not say who may read a file.
    if mode & _OTHERS and has_token and sys.platform != "win32":
        warn_caller(f"other users may read {path}, which has a token; run chmod 600 on it", DataAccessWarning)
    return profiles
