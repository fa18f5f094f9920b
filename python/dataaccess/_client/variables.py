"""The variables of the environment for the token and for settings, and names that look like variables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dataaccess._client.settings import SETTINGS
from dataaccess._core.warn import warn_caller
from dataaccess.errors import ConfigError, DataAccessWarning

if TYPE_CHECKING:
    from dataaccess.tokens import TokenFile

TOKEN = "DATAACCESS_TOKEN"  # noqa: S105 - its name
TOKEN_FILE = "DATAACCESS_TOKEN_FILE"  # noqa: S105 - likewise

_PREFIXES = ("DATAACCESS_", "DATA_ACCESS_")
# All that some part of this package reads.
KNOWN = {
    *(name for spec in SETTINGS.values() for name in spec.variables if name.startswith(_PREFIXES)),
    "DATAACCESS_LOG",
    "DATAACCESS_PROFILE",
    "DATAACCESS_SANDBOX_ADMIN_TOKEN",
    "DATAACCESS_SANDBOX_TOKEN",
    "DATAACCESS_SPARK_ALLOW_HOSTS",
    "DATAACCESS_SPARK_ALLOW_TOKEN_CALLABLES",
    "DATAACCESS_SPARK_ALLOW_TOKEN_FILES",
    TOKEN,
    TOKEN_FILE,
}
# Settings that a variable may set; the other variables are read elsewhere.
OF_ENVIRONMENT = ("timezone", "code_value_type")
# `URL` is meant to be `BASE_URL`.
_CUTOFF = 0.5


def token_variable() -> str | None:
    """The variable that says the token, if one does.

    Raises:
        ConfigError: Two do.
    """
    found = [name for name in (TOKEN, TOKEN_FILE) if os.environ.get(name)]
    if len(found) > 1:
        raise ConfigError(f"{TOKEN} and {TOKEN_FILE} are both set: unset one of them")
    return found[0] if found else None


def file_of_environment() -> TokenFile:
    """The file of the token."""
    from dataaccess.tokens import token_file

    return token_file(os.environ[TOKEN_FILE])


def value_of_environment(setting: str, given: set[str]) -> str | None:
    """The value of a setting of `OF_ENVIRONMENT`, unless it is an argument.

    Raises:
        ConfigError: It is not valid.
    """
    variable = SETTINGS[setting].variables[0]
    value = os.environ.get(variable)
    if not value or setting in given:
        return None
    from dataaccess._client.profiles import refusal_of

    try:
        problem = refusal_of(setting, value)
    except ConfigError as error:
        problem = str(error.args[0])
    if problem is not None:
        raise ConfigError(f"{variable}: {problem}")
    return value


def warn_of_unknown_variables() -> None:
    """Warns of variables that look like ours and that nothing reads."""
    for name in sorted(os.environ):
        if name.startswith(_PREFIXES) and name not in KNOWN:
            from difflib import get_close_matches

            # All have the same beginning.
            endings = {known.removeprefix(_PREFIXES[0]): known for known in sorted(KNOWN)}
            ending = name.removeprefix(_PREFIXES[0]).removeprefix(_PREFIXES[1])
            meant = [endings[match] for match in get_close_matches(ending, endings, n=1, cutoff=_CUTOFF)]
            advice = f"did you mean {meant[0]!r}?" if meant else f"there are {', '.join(sorted(KNOWN))}"
            warn_caller(f"nothing reads the environment variable {name}; {advice}", DataAccessWarning)
