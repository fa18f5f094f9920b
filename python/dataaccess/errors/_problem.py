"""One problem of a request. Loaded with the first one: few programs have any."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from reprlib import repr as shortened
from typing import Any

from dataaccess._public import public
from dataaccess.errors._text import text_of

_PLAIN = {bool, int, float, str, date, datetime}


@public
@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a request.

    Attributes:
        argument: The argument as the caller wrote it, such as `code_status[1]`.
        path: Its path in the request body, such as `filters.OR[0].AND[2].value[1]`; empty if it has none.
        message: What is wrong and what to write instead.
        value: The value that the caller passed; in an expression of `da.col` its repr. A pickle holds the repr of a
            value that is not a number, string, bool, date or None.
    """

    argument: str
    path: str
    message: str
    value: object

    def __post_init__(self) -> None:
        """Takes a message of the core, which marks the arguments that it names."""
        object.__setattr__(self, "message", text_of(self.message))

    def __str__(self) -> str:
        return f"{self.argument}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the repr of a value of any other type, which might not pickle."""
        is_plain = self.value is None or type(self.value) in _PLAIN
        return type(self), (self.argument, self.path, self.message, self.value if is_plain else shortened(self.value))
