"""Where each setting of a client came from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dataaccess._client.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Self

    from dataaccess._client.profiles import Profile
    from dataaccess.reports import Setting

_HIDDEN = "(hidden)"
_SANDBOX = "the sandbox"


class Sources:
    """Which settings of a client are arguments, and which the environment or a profile says.

    Attributes:
        given: The names of the arguments. None is a value, for which nothing else counts.
        of_profile: The names of the settings of the profile.
        profile_name: The argument `profile`.
        profile: The profile, if there is one.
        token_variable: The variable that says the token.
        is_token_of_profile: Whether the profile says the token.
        of_environment: The names of the settings that a variable of `OF_ENVIRONMENT` sets.
    """

    __slots__ = (
        "given",
        "is_token_of_profile",
        "of_environment",
        "of_profile",
        "profile",
        "profile_name",
        "token_variable",
    )

    def __init__(self, given: Iterable[str], profile_name: str | None, profile: Profile | None) -> None:
        """Nothing is of the environment or the profile yet."""
        self.given, self.profile_name, self.profile = set(given), profile_name, profile
        self.of_environment: set[str] = set()
        self.of_profile: set[str] = set()
        self.token_variable: str | None = None
        self.is_token_of_profile = False

    def with_arguments(self, names: Iterable[str]) -> Self:
        """Those of a copy with more arguments."""
        copy = type(self)(self.given.union(names), self.profile_name, self.profile)
        copy.of_profile = self.of_profile.difference(names)
        copy.token_variable, copy.is_token_of_profile = self.token_variable, self.is_token_of_profile
        copy.of_environment = self.of_environment.difference(names)
        return copy

    @property
    def token(self) -> str | None:
        """What says the token, if it is no argument."""
        if self.is_token_of_profile:
            return str(self.profile)
        return self.token_variable and f"environment variable {self.token_variable}"

    def of(self, name: str) -> str:
        """What says a setting."""
        if name in self.given:
            return "argument"
        if name in self.of_profile:
            return str(self.profile)
        if name == "base_url" or name in self.of_environment:
            return f"environment variable {SETTINGS[name].variables[0]}"
        return "default"

    def shown(
        self, settings: Mapping[str, Any], address: str, used: Iterable[tuple[str, str, str]], *, is_embedded: bool
    ) -> dict[str, Setting]:
        """The settings by name, in the order of the arguments, without secrets.

        Args:
            settings: Their values.
            address: The base URL, or the name of the sandbox.
            used: The proxy and the CA certificates that the core uses: setting, value, variable or argument.
            is_embedded: Whether it is the sandbox of this process.
        """
        from dataaccess.reports import Setting
        from dataaccess.reports._client import SettingsByName

        shown = SettingsByName()
        shown |= {
            "base_url": Setting(address, self.of("base_url")),
            "token": Setting(_HIDDEN, _SANDBOX if is_embedded else self.token or "argument"),
            "profile": self._shown_profile(),
            **{name: Setting(value, self.of(name)) for name, value in settings.items() if name != "base_url"},
        }
        if settings["headers"] is not None:
            shown["headers"] = Setting(settings["headers"].without_secrets(_HIDDEN), self.of("headers"))
        # The core alone knows which variable counts, and whether NO_PROXY exempts the service.
        for name in ("ca_bundle", "proxy"):
            found = [(value, source) for setting, value, source in used if setting == name]
            variables = [source for _, source in found if source != name]
            source = f"environment variable {', '.join(variables)}" if variables else self.of(name)
            shown[name] = Setting(", ".join(value for value, _ in found) or None, source)
        return shown

    def _shown_profile(self) -> Setting:
        from dataaccess.reports import Setting

        if self.profile is None:
            return Setting(None, "default")
        if self.profile_name is not None:
            return Setting(self.profile.name, "argument")
        is_named = bool(os.environ.get("DATAACCESS_PROFILE"))
        return Setting(self.profile.name, "environment variable DATAACCESS_PROFILE" if is_named else "default")
