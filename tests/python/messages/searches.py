"""A search or scan of promotion codes: what is refused before a request is sent."""

from __future__ import annotations

from typing import Any

from support.messages import Cases, User

import dataaccess as da


class Mute:
    """A value without a repr."""

    def __repr__(self) -> str:
        raise RuntimeError


def names(_user: User) -> dict[str, Any]:
    """What the calls use."""
    return {"DAY": da.on("2024-01-15"), "Mute": Mute}


SEARCHES = Cases(names)
