"""What a check of a client found: an answer to each question, and the settings that are right for the service."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from dataaccess._display import html
from dataaccess._display.text import cell, escaped
from dataaccess._public import public

if TYPE_CHECKING:
    from typing import Any

    from dataaccess.errors import DataAccessError

State: TypeAlias = Literal["found", "reading", "not found"]

# The questions about settings.
FOUND_SETTINGS = (
    "timezone",
    "source_timezone",
    "day_comparison",
    "known_row_cap",
    "attrs_format",
    "code_value_type",
)


@public
@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """The answer of `Client.check` to one question.

    Attributes:
        question: `address`, `tls`, `proxy`, `token`, `scope item`, `scope download`, `export codes`, or the setting
            that it is about.
        state: `found`: requests show it. `reading`: the likeliest meaning of what was seen. `not found`.
        value: What was found; None if it is not known.
        detail: What was seen, or why it was not found and what would help.
        is_right: Whether the client has it so; None if that is not known.
    """

    question: str
    state: State
    value: Any
    detail: str
    is_right: bool | None = None

    def __str__(self) -> str:
        """The answer in a line."""
        mark = "✗" if self.is_right is False else {"found": "✓", "reading": "~", "not found": "?"}[self.state]
        value = "" if self.value is None or isinstance(self.value, bool) else f"{literal(self.value)}: "
        return f"{mark} {self.question:15}  {value}{self.state + ': ' if self.state != 'found' else ''}{self.detail}"


@public
@dataclass(frozen=True, slots=True, repr=False)
class ClientCheck:
    """What a client can do at its service: what `Client.check` returns. `print(check)` shows it, a line an answer.

    Attributes:
        base_url: Address of the service.
        is_sandbox: Whether the data is synthetic.
        is_reachable: Whether the service responded.
        answers: The answers by question, in the order in which they are shown.
        errors: What failed, by question.
        requests: How many requests were sent. They only read.
        seconds: How long the check took.
    """

    base_url: str
    is_sandbox: bool
    is_reachable: bool
    answers: dict[str, CheckAnswer]
    errors: dict[str, DataAccessError]
    requests: int
    seconds: float

    @property
    def is_ok(self) -> bool:
        """Whether the service is reachable, did not refuse each request, and nothing is known to be wrong."""
        is_usable = any(self.answers[f"scope {name}"].is_right is not False for name in ("item", "download"))
        is_wrong = any(answer.is_right is False for name, answer in self.answers.items() if name in FOUND_SETTINGS)
        return self.is_reachable and self.answers["token"].is_right is True and is_usable and not is_wrong

    @property
    def scopes(self) -> dict[str, bool | None]:
        """Whether the token permits `item` (searches of codes) and `download`; None if that is not known."""
        return {name: self.answers[f"scope {name}"].value for name in ("item", "download")}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were found: arguments of `Client`, and lines of a profile."""
        return {name: value for name in FOUND_SETTINGS if (value := self.answers[name].value) is not None}

    def to_toml(self) -> str:
        """Writes the settings as lines of a profile, each with what was seen.

        Returns:
            TOML.

        Examples:
            >>> import dataaccess as da
            >>> print(da.Client("sandbox:demo").check().to_toml(), end="")
            attrs_format = "array"  # a search of a customer was accepted
        """
        pairs = ((name, value, self.answers[name].detail) for name, value in self.settings.items())
        return "".join(escaped(f"{name} = {literal(value)}  # {detail}") + "\n" for name, value, detail in pairs)

    def to_code(self) -> str:
        """Writes the settings as a call of `Client`.

        Returns:
            An expression of Python.

        Examples:
            >>> import dataaccess as da
            >>> da.Client("sandbox:demo").check().to_code()
            'da.Client("sandbox:demo", attrs_format="array")'
        """
        arguments = [literal(self.base_url), *(f"{name}={literal(value)}" for name, value in self.settings.items())]
        return escaped(f"da.Client({', '.join(arguments)})")

    def to_dict(self) -> dict[str, Any]:
        """Returns everything for `json.dumps`.

        Returns:
            The attributes, the settings, and the answers as dicts.

        Examples:
            >>> import dataaccess as da
            >>> da.Client("sandbox:demo").check().to_dict()["is_ok"]
            True
        """
        names = ("base_url", "is_ok", "is_sandbox", "is_reachable", "requests", "seconds", "settings")
        answers = [asdict(answer) for answer in self.answers.values()]
        failed = {name: str(error) for name, error in self.errors.items()}
        return {**{name: getattr(self, name) for name in names}, "answers": answers, "errors": failed}

    def __bool__(self) -> bool:
        """As `is_ok`."""
        return self.is_ok

    def __str__(self) -> str:
        """A line for each answer."""
        return "\n".join(cell(str(answer), 1_000) for answer in self.answers.values())

    def _repr_html_(self) -> str:
        """The answers for notebooks."""
        kinds = {True: "good", False: "bad", None: "doubt"}
        rows = []
        for name, answer in self.answers.items():
            text = cell(str(answer)[len(f"✓ {name:15}  ") :], 1_000)
            rows.append((name, html.Mark(text, f"{kinds[answer.is_right]} wide")))
        return html.block(html.title("Check of a client", "ok" if self.is_ok else "not ok"), html.facts(rows))

    def __repr__(self) -> str:
        return f"ClientCheck({self.base_url!r}, {'ok' if self.is_ok else 'not ok'})"


def literal(value: object) -> str:
    """A text or number, or a list of them, as JSON, TOML and Python write it."""
    return json.dumps(value, ensure_ascii=False)
