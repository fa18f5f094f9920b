"""Profiles: settings by name in a file of the user. It imports no core, as completion reads the names."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from dataaccess._core.secret import Secret
from dataaccess._core.warn import warn_caller
from dataaccess.errors import ConfigError, DataAccessWarning

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT = "default"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Profile(NamedTuple):
    """A profile: its name, its file, and its settings, which are not checked."""

    name: str
    path: Path
    settings: Secret

    def __str__(self) -> str:
        return f"profile {self.name} in {self.path}"


class TokenOfProfile:
    """Reads the token of a profile, each time it is called: a changed file is followed."""

    is_of_one_service = True

    def __init__(self, profile: Profile) -> None:
        """Takes the profile that the token is for."""
        self._name, self._path = profile.name, profile.path

    def __call__(self) -> str:
        """The token."""
        profile = read(self._path).value.get(self._name)
        token = profile.get("token") if isinstance(profile, dict) else None
        del profile
        if isinstance(token, str) and token:
            return token
        del token
        raise ConfigError(f"profile {self._name} in {self._path} has no token any more")


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
    """All profiles of a file by name; none if there is no file.

    Raises:
        ConfigError: The file cannot be read, or has another form. The error quotes nothing of it but names of profiles.
    """
    import tomllib

    profiles, problem = Secret({}), ""
    # Of a folder that cannot be searched, too, no file is read.
    if not os.path.exists(path):  # noqa: PTH110 - `Path.exists` may raise
        return profiles
    try:
        with path.open("rb") as file:
            profiles.value = tomllib.load(file)
            mode = os.fstat(file.fileno()).st_mode
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


def find(name: str | None) -> Profile | None:
    """The profile of this name; without a name the default one, if there is one.

    Raises:
        ConfigError: There is no such profile, or the file cannot be read.
    """
    path = config_path()
    profiles = read(path)
    if name is None and DEFAULT not in profiles.value:
        return None
    name = DEFAULT if name is None else name
    if name not in profiles.value:
        known = ", ".join(profiles.value)
        raise ConfigError(f"there is no profile {name!r} in {path}; it has {known or 'no profile'}")
    settings = Secret(profiles.value[name])
    if not isinstance(settings.value, dict):
        raise ConfigError(f"{path}: profiles.{name} must be a table: write [profiles.{name}]")
    return Profile(name, path, settings)
