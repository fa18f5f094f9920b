"""The settings of a client, resolved: an argument wins over the environment, and the environment over a profile.

What is wrong with a setting becomes a line with its source. The core raises all lines together with its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from datetime import UTC
from reprlib import repr as shortened
from typing import Any, Self

from dataaccess._client.profiles import Profile, config_path, read
from dataaccess._client.settings import KNOWN, PREFIX, PROFILE, SETTINGS, TOKEN, TOKEN_FILE, Spec
from dataaccess._contract import ITEM_TYPES
from dataaccess._core import checks
from dataaccess._core.embedded import embedded, embedded_name, is_sandbox
from dataaccess._core.host import host
from dataaccess._core.paths import local_path
from dataaccess._core.secret import Secret
from dataaccess._core.warn import warn_caller
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._native import RawToken, column_type, is_of_this_machine
from dataaccess._native import origin as origin_of
from dataaccess._public import did_you_mean
from dataaccess._scan.schema import type_names
from dataaccess.errors import ConfigError, DataAccessWarning

ARGUMENT, DEFAULT, SANDBOX = "argument", "default", "the sandbox"

_BASE_URL = SETTINGS["base_url"].variable
_KEYS = ("id", "attributes")


class Settings:
    """The settings of a client: values and sources by name, a line for each problem, and the token."""

    address: str | None = None  # the base URL for the core
    sandbox: str | None = None  # the name of the sandbox of this process, if that is the service
    is_sandbox: bool = False  # whether the service is a sandbox that runs here
    token: RawToken | None = None
    token_source: str = ARGUMENT

    def __init__(self, profile: Profile | None, profile_name: str | None) -> None:
        """Begins with the defaults. Values that may be secret are hidden."""
        self.values: dict[str, Any] = {name: spec.default for name, spec in SETTINGS.items()}
        self.sources = dict.fromkeys(SETTINGS, DEFAULT)
        self.problems: list[str] = []
        self.profile, self.profile_name = profile, profile_name
        self.host = host()
        # The addresses that the environment and the profile name: what they have is for these.
        self._of_profile = None if profile is None else profile.settings.value.get("base_url")
        self.named_address = os.environ.get(_BASE_URL) or self._of_profile

    def __getitem__(self, name: str) -> Any:
        value = self.values[name]
        return {} if value is None and name == "item_types" else value

    def of_core(self) -> dict[str, Any]:
        """What the core takes. It has secrets: no frame may keep it."""
        proxy, headers = self["proxy"], self["headers"]
        return {
            # Each call has the other two as arguments.
            **{name: value for name, value in self.values.items() if name not in ("item_types", "attrs_format")},
            "base_url": self.address,
            "proxy": None if proxy is None else proxy.value,
            "headers": [] if headers is None else list(headers.value.items()),
            "sources": {name: _end(source) for name, source in self.sources.items() if source != DEFAULT},
            "trust_env": not self.is_sandbox,
            "host": self.host,
            "python": "CPython {}.{}".format(*sys.version_info),
        }

    def changed(self, given: Secret) -> Self:
        """A copy with other arguments. An address that is None is looked up again."""
        changed = copy(self)
        changed.values, changed.sources, changed.problems = {**self.values}, {**self.sources}, []
        for name in given.value:
            changed.fill(name, given)
        for name in ("headers", "proxy"):
            if not changed._is_fit(name, changed.sources[name]):
                changed.values[name], changed.sources[name] = None, DEFAULT
        # A forked child starts a sandbox of its own.
        if "base_url" in given.value or self.sandbox is not None:
            changed.find_service()
        return changed

    def fill(self, name: str, given: Secret, *, of_environment: bool = True) -> None:
        """Takes a setting from the first source that has it and that is fit for the service."""
        spec, profile = SETTINGS[name], self.profile
        # Each with the folder where paths start.
        found: list[tuple[Secret, str, str | None]] = []
        if name in given.value and (name != "base_url" or given.value[name] is not None):
            found.append((Secret(given.value[name]), ARGUMENT, None))
        if of_environment and os.environ.get(spec.variable):
            found.append((Secret(os.environ[spec.variable]), f"environment variable {spec.variable}", ""))
        is_shared = of_environment and any(map(os.environ.get, spec.shared))
        if profile is not None and name in profile.settings.value and not is_shared:
            found.append((Secret(profile.settings.value[name]), str(profile), str(profile.path.parent)))
        self.values[name], self.sources[name] = spec.default, DEFAULT
        for value, source, folder in found:
            if self._is_fit(name, source):
                self.sources[name] = source
                try:
                    self.values[name] = checked(spec, value, folder)
                except ConfigError as error:
                    self.problems.append(f"{error}{_end(source)}")
                return

    def _is_fit(self, name: str, source: str) -> bool:
        """Whether a setting may be used for this service: headers may hold a secret of another one."""
        address = self["base_url"]
        if source in (ARGUMENT, DEFAULT):
            return True
        # No proxy of the environment leads to this machine.
        if name == "proxy":
            return embedded_name(address) is None and not is_of_this_machine(address)
        home = self._of_profile if source == str(self.profile) else self.named_address
        return name != "headers" or not _is_elsewhere(address, home)

    def find_service(self) -> None:
        """Finds out whether the address is of a sandbox, which runs from here on."""
        address = self["base_url"]
        self.sandbox = embedded_name(address)
        self.is_sandbox = is_sandbox(address)
        is_refused = address is None and self.sources["base_url"] != DEFAULT
        # In place of a refused address one that the core accepts, so that it checks the other settings.
        self.address = "https://localhost" if is_refused or self.sandbox is not None else address
        if self.sandbox is not None:
            try:
                self.address, token = embedded(self.sandbox)
                self.token, self.token_source = RawToken(token), SANDBOX
            except ConfigError as error:
                self.problems.append(f"base_url: {error}{_end(self.sources['base_url'])}")

    def find_token(self, token: Secret | None) -> None:
        """Takes the token of the argument, the environment or the profile: the first that is for this address."""
        try:
            self.token = self._token() if token is None else RawToken(token.value)
        except ConfigError as error:
            text = str(error).removeprefix("the ").removeprefix("token: ")
            self.problems.append(f"{text if text.startswith('token') else f'token: {text}'}{_end(self.token_source)}")

    def _token(self) -> RawToken:
        address, own = self["base_url"], None if self.profile is None else self.profile.token_source()
        variable = token_variable()
        if variable is not None and not _is_elsewhere(address, self.named_address):
            if own is not None and self.sources["base_url"] == str(self.profile):
                message = f"the token of {variable} is sent to the address of {self.profile}, which has its own"
                warn_caller(f"{message}: unset {variable} if it is for another service", DataAccessWarning)
            self.token_source = f"environment variable {variable}"
            if variable == TOKEN:
                return RawToken(os.environ[TOKEN])
            from dataaccess.tokens import token_file  # few clients have one, and its module takes milliseconds

            return RawToken(token_file(os.environ[TOKEN_FILE]))
        if own is not None and not _is_elsewhere(address, self._of_profile):
            self.token_source = str(self.profile)
            return RawToken(own)
        here, reason = origin(address), f"token is not set; give token or set {TOKEN}; sandbox:demo brings its own"
        if own is not None:
            there = f"is for {origin(self._of_profile)}, and {here} is another address"
            reason = f"token is not set: the token of {self.profile} {there}; give token or set {TOKEN}"
        elif variable is not None:
            named = _BASE_URL if os.environ.get(_BASE_URL) else str(self.profile)
            there = f"is for the address of {named}, and {here} is another"
            reason = f"token is not set: the token of {variable} {there}; give token"
        elif self.profile is None and self.sources["base_url"] == f"environment variable {_BASE_URL}":
            path = config_path()
            with suppress(ConfigError):
                if "default" in read(path).value:
                    reason = f"{reason}; the profile default of {path} is not read, as {_BASE_URL} is set"
        raise ConfigError(reason)


def resolve(given: Secret, token: Secret | None, profile_name: str | None) -> Settings:
    """The settings of a client."""
    settings = Settings(find_profile(profile_name, given), profile_name)
    settings.fill("base_url", given)
    settings.find_service()
    # A client of a sandbox reads the environment only with a profile.
    of_environment = settings.profile is not None or not settings.is_sandbox
    if of_environment:
        # Of variables that look like ours and that nothing reads.
        for name in sorted(os.environ):
            if name.startswith((PREFIX, "DATA_ACCESS_")) and name not in KNOWN:
                from difflib import get_close_matches

                # All have the same beginning. `URL` is meant to be `BASE_URL`.
                endings = [known.removeprefix(PREFIX) for known in sorted(KNOWN)]
                ending = name.removeprefix(PREFIX).removeprefix("DATA_ACCESS_")
                meant = [f"{PREFIX}{match}" for match in get_close_matches(ending, endings, n=1, cutoff=0.5)]
                advice = f"did you mean {meant[0]!r}?" if meant else f"there are {', '.join(sorted(KNOWN))}"
                warn_caller(f"nothing reads the environment variable {name}; {advice}", DataAccessWarning)
    for name in SETTINGS:
        if name != "base_url":
            settings.fill(name, given, of_environment=of_environment)
    if (profile := settings.profile) is not None:
        settings.problems += (f"{mistake}{_end(str(profile))}" for mistake in profile.mistakes())
    if settings.sandbox is None:
        settings.find_token(token)
    return settings


def find_profile(name: object, given: Secret) -> Profile | None:
    """The profile of the argument or the environment; the profile `default`, if there is one and no other address."""
    if name is None:
        # A client of a sandbox has a profile only if the argument names it.
        address = Secret(given.value.get("base_url"))
        if address.value is None:
            address = Secret(os.environ.get(_BASE_URL) or None)
        name = os.environ.get(PROFILE) or None
        if is_sandbox(address.value) or (name is None and address.value is not None):
            return None
    path = config_path()
    profiles = read(path)
    if name is None and "default" not in profiles.value:
        return None
    name = checks.string("profile", "default" if name is None else name)
    if name not in profiles.value:
        there = f"in {path}; it has {', '.join(profiles.value) or 'none'}"
        # `Path.exists` may raise.
        there = there if os.path.exists(path) else f"as there is no file {path}"  # noqa: PTH110
        raise ConfigError(f"there is no profile {name!r} {there}")
    settings = Secret(profiles.value[name])
    if not isinstance(settings.value, dict):
        raise ConfigError(f"{path}: profiles.{name} must be a table: write [profiles.{name}]")
    return Profile(name, path, settings)


def named_address(profile: str | None = None) -> str | None:
    """The address that the environment or a profile names, for a client without `base_url`."""
    found = None if os.environ.get(_BASE_URL) else find_profile(profile, Secret({}))
    return Settings(found, profile).named_address


def token_variable() -> str | None:
    """The variable that has the token, if one has."""
    found = [name for name in (TOKEN, TOKEN_FILE) if os.environ.get(name)]
    if len(found) > 1:
        raise ConfigError(f"{TOKEN} and {TOKEN_FILE} are both set: unset one of them")
    return found[0] if found else None


def origin(address: object) -> str | None:
    """Scheme, host and port, or the name of a sandbox. None for no address, and for one that every client refuses."""
    return None if address is None else embedded_name(address) or origin_of(address)


def _is_elsewhere(address: object, home: object) -> bool:
    """Whether an address is of another service than `home`. No client has an address without origin."""
    return home is not None and origin(address) not in (None, origin(home))


def _end(source: str) -> str:
    """The end of a line about a setting: where it comes from."""
    return "" if source in (ARGUMENT, DEFAULT) else f" ({source.replace('environment variable', 'from', 1)})"


def check_names(call: str, given: Secret) -> None:
    """Refuses an argument that is not a setting, as Python does."""
    for name in given.value:
        if name not in SETTINGS:
            is_fixed = name in ("token", "profile")
            advice = f"; a new {name} needs a new client" if is_fixed else did_you_mean(name, SETTINGS)
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}{advice}")


def checked(spec: Spec, given: Secret, folder: str | None) -> Any:
    """The value of a setting, with its type; without a folder, of an argument. The core checks bounds."""
    name = spec.name
    if folder is not None and isinstance(given.value, str):
        try:
            given = Secret(spec.of_text(given.value))
        except ValueError as error:
            shown = "the text" if spec.kind in ("headers", "item_types") else f'"{given.value[:40]}"'
            raise ConfigError(f"{name}: {shown} {error}") from None
    if given.value is None and spec.is_optional:
        return None
    numbers = f"of at least {spec.least}" if spec.most is None else f"from {spec.least} to {spec.most}"
    bounds = f"{numbers}, or None" if spec.is_optional else numbers
    kind = type(given.value).__name__
    match spec.kind:
        case "boolean":
            return checks.boolean(name, given.value)
        case "duration":
            return checks.seconds(name, given.value)
        case "zone":
            zone = "UTC" if given.value is UTC else getattr(given.value, "key", given.value)
            if not isinstance(zone, str):
                raise ConfigError(f"{name} must be an IANA name or a ZoneInfo, not {given.value!r}")
            if (advice := checks.offset_advice(checks.string(name, zone))) is not None:
                raise ConfigError(f"{name}: {shortened(zone)} {advice}")
            return zone
        case "headers":
            if not isinstance(given.value, Mapping):
                raise ConfigError(f"headers must be a dict of names and values, not of type {kind}")
            for header in given.value:
                checks.string("headers: a name", header)
                checks.string(f"headers: the value of {header!r}", given.value[header])
            return Secret(dict(given.value))
        case "number":
            return checks.number(name, given.value, f"a number {bounds}")
        case "integer":
            found = checks.optional_integer(given.value, -checks.MAX_INTEGER, checks.MAX_INTEGER)
            if found is None:
                raise ConfigError(f"{name} must be an integer {bounds}, not {shortened(given.value)}")
            return found
        case "choice":
            if not isinstance(given.value, str) or given.value not in spec.choices:
                choices = " or ".join(f'"{choice}"' for choice in spec.choices)
                raise ConfigError(f"{name} must be {choices}, not {shortened(given.value)}")
            return given.value
        case "url" | "text":
            text = Secret(checks.string(name, given.value))
            return text if spec.is_secret else text.value
        case "path":
            path = os.fspath(given.value) if isinstance(given.value, str | os.PathLike) else None
            if not isinstance(path, str) or not path or "\0" in path:
                raise ConfigError(f"{name} must be a path, not {shortened(given.value)}")
            return local_path(os.path.join(folder or "", os.path.expanduser(checks.string(name, path))))  # noqa: PTH111, PTH118
    if not isinstance(given.value, Mapping):
        raise ConfigError(f"{name} must be a dict of names and ids, not of type {kind}")
    return {checks.string(name, known): _item_type(known, value) for known, value in given.value.items()}


def _item_type(name: str, given: object) -> int | dict[str, Any]:
    """The id of a business object, or its id and its attributes."""
    where, fixed = f"item_types[{name!r}]", ITEM_TYPES.get(name)
    value = given if isinstance(given, Mapping) else {"id": given}
    for key in value:
        if key not in _KEYS:
            raise ConfigError(f"{where} has the key {key!r}: write id and attributes{did_you_mean(str(key), _KEYS)}")
    if "id" not in value and fixed is None:
        raise ConfigError(f'{where} has no id: write {{"id": …, "attributes": {{…}}}}')
    path = where if value is not given else f"{where}['id']"
    found = checks.integer(path, value.get("id", fixed), -checks.MAX_INTEGER - 1)
    if fixed not in (None, found):
        raise ConfigError(f"{where} must be {fixed}, as the service fixes it, not {found}")
    attributes, where = value.get("attributes"), f"{where}['attributes']"
    if attributes is None:
        return found
    if name == "promotion_code":
        raise ConfigError(f"{where}: the API specification has the attributes of promotion codes")
    if not isinstance(attributes, Mapping) or not attributes:
        raise ConfigError(f'{where} must be a dict of attributes and types, such as {{"opened": "timestamp"}}')
    types = {}
    for attribute, kind in (type_names(attributes) or {}).items():
        known = column_type(kind) if isinstance(kind, str) else None
        if known is None:
            advice = did_you_mean(str(kind), COLUMN_TYPES)
            raise ConfigError(f"{where}[{attribute!r}] must be one of {', '.join(COLUMN_TYPES)}, not {kind!r}{advice}")
        types[checks.string("item_types", attribute)] = known
    return {"id": found, "attributes": types}
