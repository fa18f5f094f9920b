"""The settings of a client: one table for arguments, environment, profiles, command, Airflow, Spark and docs.

It imports nothing of this package, so that the web server of Airflow reads it without the extension module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

PREFIX = "DATAACCESS_"
TOKEN = "DATAACCESS_TOKEN"  # noqa: S105 - its name
TOKEN_FILE = "DATAACCESS_TOKEN_FILE"  # noqa: S105 - likewise
PROFILE = "DATAACCESS_PROFILE"

_CA_BUNDLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
_PROXIES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds of the units of a duration
_NO_JSON = 'is not a JSON object, such as {"store": 7}'
_PROBLEMS = {
    "boolean": "is neither true nor false",
    "duration": "is not a duration: write seconds, or a unit as in 90s, 10m, 2h and 3d",
    "integer": "is not an integer",
    "number": "is not a number",
}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Spec(NamedTuple):
    """What a setting is."""

    name: str
    kind: str
    default: Any
    help: str  # what it is for, in one sentence
    choices: tuple[str, ...] = ()
    least: float = 0  # the core checks the bounds
    most: float | None = None
    may_be_none: bool = False
    is_secret: bool = False
    is_usual: bool = True  # a field of Airflow's form
    # Variables that many programs read. They come before a profile, and after the variable of this package.
    shared: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable of the environment that sets it."""
        return f"{PREFIX}{self.name.upper()}"

    @property
    def is_optional(self) -> bool:
        """Whether None is a value."""
        return self.default is None or self.may_be_none

    @property
    def default_text(self) -> str:
        """The default as a text that sets it."""
        if self.kind != "duration":
            return str(self.default)
        minutes, rest = divmod(float(self.default), 60)
        return f"{rest:g}s" if rest else f"{minutes:g}m"

    def of_text(self, text: str) -> Any:
        """The value of a text. The message of a `ValueError` goes on after the text, which may be a secret."""
        import json
        import re

        try:
            match self.kind:
                case "boolean":
                    return _BOOLEANS[text.strip().lower()]
                case "duration":
                    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([smhd]?)", text.strip())
                    number, unit = found.groups() if found else ("", "")
                    return float(number) * _UNITS[unit]
                case "headers" | "item_types":
                    return json.loads(text)
                case "integer":
                    return int(text)
                case "number":
                    return float(text)
        except (ValueError, LookupError, RecursionError):
            raise ValueError(_PROBLEMS.get(self.kind, _NO_JSON)) from None
        return text


_SPECS = (
    Spec("base_url", "url", None, "Address of the service; sandbox:demo is the sandbox."),
    Spec("timezone", "zone", "UTC", "IANA zone of days and, if given, of results."),
    Spec("source_timezone", "zone", "UTC", "Zone of the times in records."),
    Spec(
        "day_comparison",
        "choice",
        "exclusive",
        "How after_date and before_date compare days: exclusive or inclusive.",
        ("exclusive", "inclusive"),
    ),
    Spec("code_value_type", "choice", None, "The value_type of conditions of codes.", ("normal",), is_usual=False),
    Spec("timeout", "duration", 300.0, "Limit of a call, such as 90s."),
    Spec("retry_for", "duration", 60.0, "How long to retry; 0: never."),
    Spec("concurrency", "integer", 8, "Requests in flight, at most.", least=1, most=10_000, may_be_none=True),
    Spec("requests_per_second", "number", None, "Requests a second, at most.", least=0.001, most=1_000_000),
    Spec("max_result_bytes", "integer", None, "Memory that the result of a call may take.", least=1, is_usual=False),
    Spec("ca_bundle", "path", None, "CA certificates to trust, in PEM.", shared=_CA_BUNDLES),
    Spec("proxy", "url", None, "HTTP proxy. It replaces the environment's.", is_secret=True, shared=_PROXIES),
    Spec("allow_http", "boolean", False, "Permit an address without TLS."),
    Spec("headers", "headers", None, "Headers to add to each request.", is_secret=True, is_usual=False),
    Spec("user_agent", "text", None, "Your program, such as nightly-job/3: the end of User-Agent.", is_usual=False),
    Spec("item_types", "item_types", None, "Ids of your business objects, and their attributes.", is_usual=False),
    Spec(
        "attrs_format",
        "choice",
        "array",
        "How searches of other objects than promotion codes send attrs.",
        ("array", "string"),
        is_usual=False,
    ),
    Spec("known_row_cap", "integer", None, "Rows at which the service caps responses.", least=1, is_usual=False),
    Spec("record", "path", None, "File that keeps all exchanges, without the token.", is_usual=False),
)
SETTINGS = {spec.name: spec for spec in _SPECS}
# For texts of these kinds that are no settings.
boolean, duration, integer = (SETTINGS[name].of_text for name in ("allow_http", "timeout", "concurrency"))

# All variables that some part of this package reads.
KNOWN = {
    *(spec.variable for spec in _SPECS),
    "DATAACCESS_LOG",
    "DATAACCESS_SANDBOX_ADMIN_TOKEN",
    "DATAACCESS_SANDBOX_TOKEN",
    PROFILE,
    TOKEN,
    TOKEN_FILE,
}
