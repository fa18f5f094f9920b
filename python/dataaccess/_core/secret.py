"""`Secret`: a value that nothing shows."""

from __future__ import annotations

from typing import Any


class Secret:
    """Holds what may be a secret. No repr shows it, nor a tool that walks through the containers of a frame."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        """Takes a value of any type."""
        self.value = value

    def __repr__(self) -> str:
        return "(hidden)"
