"""The settings of a client: one table for arguments, profiles, environment, command, Airflow, Spark and docs.

It imports nothing of this package, so that the web server of Airflow reads it without the extension module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# Seconds of the units of a duration.
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

TIMEZONE = "DATAACCESS_TIMEZONE"
CODE_VALUE_TYPE = "DATAACCESS_CODE_VALUE_TYPE"


class Spec:
    """What a setting is.

    Attributes:
        name: The name of the argument.
        kind: What its values are.
        default: The value if nothing says another one.
        help: What it is for, in one sentence.
        least: The least number.
        most: The greatest number, if there is one.
        choices: The values, if there are few.
        is_optional: Whether None is a value.
        is_secret: Whether its value may be a secret.
        is_usual: Whether it is an option of the command and a field of Airflow's form.
        variables: The variables of the environment that say it, where no argument does.
    """

    __slots__ = (
        "choices",
        "default",
        "help",
        "is_optional",
        "is_secret",
        "is_usual",
        "kind",
        "least",
        "most",
        "name",
        "variables",
    )

    def __init__(
        self,
        name: str,
        kind: str,
        default: object,
        text: str,
        *,
        least: float = 0,
        most: float | None = None,
        choices: tuple[str, ...] = (),
        is_optional: bool | None = None,
        is_secret: bool = False,
        is_usual: bool = False,
        variables: tuple[str, ...] = (),
    ) -> None:
        """None is a value of each setting whose default it is."""
        self.name, self.kind, self.default, self.help = name, kind, default, text
        self.least, self.most, self.choices = least, most, choices
        self.is_optional = default is None if is_optional is None else is_optional
        self.is_secret, self.is_usual, self.variables = is_secret, is_usual, variables

    @property
    def default_text(self) -> str:
        """The default as a text that says it."""
        if self.kind != "duration":
            return str(self.default)
        minutes, rest = divmod(float(str(self.default)), 60)
        return f"{rest:g}s" if rest else f"{minutes:g}m"

    def of_text(self, text: str) -> Any:
        """The value that a text says.

        Raises:
            ValueError: It says none. The message goes on after the text, which may be a secret.
        """
        read = _TEXTS.get(self.kind)
        return text if read is None else read(text)

    def read(self, value: object) -> Any:
        """The value, or what it says as a text. The check refuses a text that says none."""
        try:
            return self.of_text(value) if isinstance(value, str) else value
        except ValueError:
            return value


def duration(text: str) -> float:
    """The seconds of a text such as `90`, `90s`, `10m` or `2h`."""
    import re

    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([smh]?)", text.strip())
    if found is None:
        raise ValueError("is not a duration: write seconds, or a unit as in 90s, 10m and 2h")
    return float(found[1]) * _UNITS[found[2]]


def integer(text: str) -> int:
    """The integer of a text."""
    try:
        return int(text)
    except ValueError:
        raise ValueError("is not an integer") from None


def number(text: str) -> float:
    """The number of a text."""
    try:
        return float(text)
    except ValueError:
        raise ValueError("is not a number") from None


def boolean(text: str) -> bool:
    """The boolean of a text."""
    try:
        return _BOOLEANS[text.strip().lower()]
    except KeyError:
        raise ValueError("is neither true nor false") from None


def codes(text: str) -> list[str]:
    """The codes of a text such as `200, 201`."""
    return [code.strip() for code in text.split(",")]


def _json(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        raise ValueError('is not a JSON object, such as {"store": 7}') from None


# How a text is read, by the kind of a setting. Of other kinds it is the value.
_TEXTS = {
    "boolean": boolean,
    "bytes": integer,
    "codes": codes,
    "count": integer,
    "duration": duration,
    "headers": _json,
    "integer": integer,
    "item_types": _json,
    "number": number,
}

SETTINGS = {
    spec.name: spec
    for spec in (
        Spec(
            "base_url",
            "url",
            None,
            "Address of the service; sandbox:demo is the sandbox.",
            is_usual=True,
            variables=("DATAACCESS_BASE_URL",),
        ),
        Spec(
            "timezone",
            "zone",
            "UTC",
            "IANA zone of days and, if given, of results.",
            is_usual=True,
            variables=(TIMEZONE,),
        ),
        Spec("source_timezone", "zone", "UTC", "Zone of the times in records.", is_usual=True),
        Spec(
            "day_comparison",
            "choice",
            "exclusive",
            "How after_date and before_date compare days: exclusive or inclusive.",
            choices=("exclusive", "inclusive"),
            is_usual=True,
        ),
        Spec(
            "code_value_type",
            "choice",
            None,
            'The value_type of each condition of promotion codes: "normal", or none.',
            choices=("normal",),
            variables=(CODE_VALUE_TYPE,),
        ),
        Spec("timeout", "duration", 300.0, "Limit of a call, such as 90s.", is_usual=True),
        Spec("retry_for", "duration", 60.0, "How long to retry; 0: never.", is_usual=True),
        Spec("retries", "integer", None, "Requests after the first one, at most.", most=10_000),
        Spec(
            "concurrency",
            "integer",
            8,
            "Requests in flight, at most.",
            least=1,
            most=10_000,
            is_optional=True,
            is_usual=True,
        ),
        Spec(
            "requests_per_second",
            "number",
            None,
            "Requests a second, at most.",
            least=0.001,
            most=1_000_000,
            is_usual=True,
        ),
        Spec("max_response_bytes", "bytes", 8 * 2**30, "Size of the largest response, decompressed.", least=1),
        Spec("max_result_bytes", "bytes", None, "Memory that the result of a call may take.", least=1),
        Spec("max_buffered_bytes", "bytes", 32 * 2**20, "Bytes that a scan reads ahead of its consumer.", least=1),
        Spec(
            "ca_bundle",
            "path",
            None,
            "CA certificates to trust, in PEM.",
            is_usual=True,
            variables=("DATAACCESS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
        ),
        Spec(
            "proxy",
            "url",
            None,
            "HTTP proxy, in place of the environment's.",
            is_secret=True,
            is_usual=True,
            variables=("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"),
        ),
        Spec("allow_http", "boolean", False, "Permit an address without TLS.", is_usual=True),
        Spec("headers", "headers", None, "Headers to add to each request.", is_secret=True),
        Spec("item_types", "item_types", None, "Ids of your business objects, and their attributes."),
        Spec("strict_empty", "boolean", False, "Accept only [] as a response without records."),
        Spec(
            "attrs_format",
            "choice",
            "array",
            "How searches of other objects than promotion codes send attrs.",
            choices=("array", "string"),
        ),
        Spec("known_row_cap", "count", None, "Rows at which the service is known to cut responses off.", least=1),
        Spec("export_success_codes", "codes", (200,), "The responseCode of an export entry that succeeded."),
        Spec("record", "path", None, "File that keeps all exchanges, without the token."),
    )
}
