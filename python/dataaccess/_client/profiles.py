"""Profiles: settings by name in a file of the user, for what neither an argument nor the environment says.

Imported only when a client needs one.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dataaccess._client.checked import UNUSED_URL, Settings, checked, origin
from dataaccess._client.config_path import config_path, parsed
from dataaccess._client.settings import SETTINGS
from dataaccess._core.embedded import embedded_name
from dataaccess._core.paths import local_path
from dataaccess._core.warn import warn_caller
from dataaccess._native import check_settings, is_of_this_machine
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError, DataAccessWarning
from dataaccess.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


DEFAULT = "default"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PATHS = ("ca_bundle", "record", "token_file")
_KEYS = [*SETTINGS, "token", "token_file"]


class Profile:
    """The settings of one profile, with types that are right.

    Attributes:
        name: Its name.
        path: The file.
        settings: Arguments of a client by name.
        token: Reads its token; None if it has none.
    """

    def __init__(self, name: str, path: Path, values: dict[str, Any]) -> None:
        """Takes the checked values of the file."""
        self.name = name
        self.path = path
        self.settings = {key: value for key, value in values.items() if key in SETTINGS}
        self.token: Callable[[], str] | None = None
        if "token_file" in values:
            self.token = TokenFile(Path(values["token_file"]))
        elif "token" in values:
            self.token = _TokenOfProfile(name, path)

    def __str__(self) -> str:
        return f"profile {self.name} in {self.path}"

    def fill(self, settings: Settings, given: set[str]) -> set[str]:
        """Adds what neither an argument nor the environment says. Returns the names of these settings."""
        names = {
            name
            for name in self.settings.keys() - given
            if not any(os.environ.get(variable) for variable in SETTINGS[name].variables)
        }
        names -= self.unfit(settings["base_url"])
        settings.update({name: self.settings[name] for name in names})
        return names

    def unfit(self, base_url: object) -> set[str]:
        """The names of settings that are not for an address.

        Headers may hold a secret of the service, and no proxy leads to this machine.
        """
        address = base_url or os.environ.get("DATAACCESS_BASE_URL") or self.settings.get("base_url")
        is_here = address is not None and (embedded_name(address) is not None or is_of_this_machine(address))
        return {name for name, is_unfit in (("headers", not self._is_for(address)), ("proxy", is_here)) if is_unfit}

    def token_for(self, base_url: object) -> Callable[[], str] | None:
        """The token, if an address is of the service of this profile.

        Raises:
            ConfigError: It is of another one.
        """
        if self._is_for(base_url or os.environ.get("DATAACCESS_BASE_URL")):
            return self.token
        raise ConfigError(
            f"no token: the token of {self} is for {self.settings['base_url']}, and the address is another; "
            f"pass token or set DATAACCESS_TOKEN"
        )

    def _is_for(self, address: object) -> bool:
        own = self.settings.get("base_url")
        # The core reports what is wrong with an address without an origin.
        return own is None or not address or origin(own) == origin(address) is not None


class _TokenOfProfile:
    """Reads the token of a profile, each time it is called: a changed file is followed."""

    is_of_one_service = True

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._path = path

    def __call__(self) -> str:
        profile = _read(self._path).get(self._name)
        token = profile.get("token") if isinstance(profile, dict) else None
        if not isinstance(token, str) or not token:
            profile = token = None
            raise ConfigError(f"profile {self._name} in {self._path} has no token any more")
        return token


def find(name: str | None) -> Profile | None:
    """The profile of this name; without a name the default one, if there is one.

    Raises:
        ConfigError: There is none of this name, the file cannot be read, or the profile has mistakes: all of them.
    """
    path = config_path()
    # A folder that cannot be read has no file for us.
    if not os.path.exists(path):  # noqa: PTH110 - `Path.exists` may raise
        if name is None:
            return None
        raise ConfigError(f"there is no profile {name!r}: {path} does not exist")
    profiles = _read(path)
    if name is None and DEFAULT not in profiles:
        return None
    name = DEFAULT if name is None else name
    if name not in profiles:
        known = ", ".join(profiles)
        advice = did_you_mean(name, profiles) or (f"; it has {known}" if known else "; it has no profile")
        raise ConfigError(f"there is no profile {name!r} in {path}{advice}")
    profile = profiles[name]
    # No frame holds the secrets of other profiles; they may have mistakes of their own.
    del profiles
    lines = [f"{path}: profiles.{name}{line}" for line in mistakes_of(name, profile, path.parent)]
    if lines:
        profile = None
        raise ConfigError.of(lines)
    return Profile(name, path, profile)


def profiles_in(path: Path) -> dict[str, Any]:
    """All profiles of a file, which need not exist. The values of each are not checked."""
    # A folder that cannot be read has no file for us.
    return _read(path) if os.path.exists(path) else {}  # noqa: PTH110 - `Path.exists` may raise


def _read(path: Path) -> dict[str, Any]:
    """All profiles of a file. The values of each are not checked."""
    try:
        tables, mode = parsed(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path} {error}") from None
    lines = [f"{path}: {line}" for line in _misplaced(tables)]
    if lines:
        tables = {}
        raise ConfigError.of(lines)
    profiles: dict[str, Any] = tables.get("profiles", {})
    has_token = any(isinstance(profile, dict) and "token" in profile for profile in profiles.values())
    # On Windows the mode does not say who may read a file.
    if mode & _OTHERS and sys.platform != "win32" and has_token:
        message = f"other users may read {path}, which has a token; run chmod 600 on it"
        warn_caller(message, DataAccessWarning)
    return profiles


def _misplaced(tables: dict[str, Any]) -> Iterator[str]:
    """What is outside of a profile."""
    for key in tables.keys() - {"profiles"}:
        yield f"{key} is unknown; settings are in [profiles.NAME]"
    if not isinstance(tables.get("profiles", {}), dict):
        yield "profiles must be tables: write [profiles.NAME]"


def mistakes_of(name: str, profile: Any, folder: Path) -> Iterator[str]:
    """Unknown keys, wrong types and refused values of a profile, whose paths it completes.

    No line has a string that may be a secret.
    """
    if not isinstance(profile, dict):
        yield f" must be a table: write [profiles.{name}]"
        return
    usable = {}
    for key, given in profile.items():
        value = profile[key] = SETTINGS[key].read(given) if key in SETTINGS else given
        problem = _wrong(key, value)
        if problem is not None:
            yield f".{problem}"
        elif key in SETTINGS:
            usable[key] = value
    if "token" in profile and "token_file" in profile:
        yield " has token and token_file: leave one out"
    for key in _PATHS:
        path = profile.get(key)
        if not isinstance(path, str) or not path:
            continue
        if "\0" in path:
            usable.pop(key, None)
            yield f".{key} has a null character, which no path has"
            continue
        # The folder counts for a path that is not absolute.
        profile[key] = local_path(folder / os.path.expanduser(path))  # noqa: PTH111 - as in `local_path`
    yield from (f".{line}" for line in _refused({key: profile[key] for key in usable}))


def _wrong(key: str, value: object) -> str | None:
    """What is wrong with the name or the type of a setting."""
    if key not in _KEYS:
        return f"{key} is not a setting{did_you_mean(key, _KEYS)}"
    if key in ("token", "token_file"):
        is_usable = isinstance(value, str) and value
        return None if is_usable else f"{key} must be a string that is not empty, not of type {type(value).__name__}"
    try:
        checked(key, value)
    except ConfigError as error:
        return _line(key, error)
    return None


def _refused(values: dict[str, Any]) -> Iterator[str]:
    """What the core refuses: its checks are those of the arguments."""
    settings = dict(values)
    # Whether an address may have no TLS is said by another setting.
    shared = {"allow_http": settings.get("allow_http", False)}
    if "base_url" not in settings or settings["base_url"].startswith("sandbox:"):
        shared["base_url"] = settings["base_url"] = UNUSED_URL
    if _accepts(settings) is None:
        return
    for key, value in settings.items():
        error = _accepts({"base_url": UNUSED_URL, **shared, key: value})
        if error is not None:
            yield _line(key, error)


def refusal_of(key: str, value: object) -> str | None:
    """Why the core refuses a setting."""
    error = _accepts({"base_url": UNUSED_URL, key: value})
    return None if error is None else _line(key, error)


def _accepts(given: dict[str, Any]) -> ConfigError | None:
    settings = Settings({key: spec.default for key, spec in SETTINGS.items()} | given)
    for key in given:
        settings[key] = checked(key, settings[key])
    try:
        check_settings(settings)
    except ConfigError as error:
        return error
    return None


def _line(key: str, error: ConfigError) -> str:
    """A problem of an argument as one of a key."""
    return str(error) if str(error).startswith(f"{key} ") else f"{key}: {error}"
