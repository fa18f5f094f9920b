"""The tables of `tests/json`, which the Rust tests of the decoder read too."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import kinds

import dataaccess as da

TABLES = Path(__file__).parents[2] / "json"
ERRORS: dict[str, tuple[type[da.DataAccessError], ...]] = {
    "ok": (),
    "empty": (),
    "invalid": (kinds.InvalidJson,),
    "record": (kinds.Record,),
    "truncated": (kinds.Truncated,),
    "envelope": (kinds.Envelope,),
    "notjson": (kinds.NotJson,),
    "unclosed": (kinds.InvalidJson, kinds.Truncated),
}


@dataclass(frozen=True)
class JsonCase:
    """A line of a table."""

    verdict: str
    name: str
    json: bytes

    @property
    def is_free(self) -> bool:
        """Whether readers of JSON may differ on it."""
        return self.verdict.startswith("free ")

    @property
    def errors(self) -> tuple[type[da.DataAccessError], ...]:
        """What may be raised where the value was requested; nothing when it is valid."""
        return ERRORS[self.verdict.removeprefix("free ").split("/")[0]]


def table(name: str) -> list[JsonCase]:
    """All lines of a table."""
    lines = (TABLES / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    parts = [line.split(" | ", 2) for line in lines if line and not line.startswith("#")]
    return [JsonCase(verdict, name, unescaped(written)) for verdict, name, written in parts]


def unescaped(written: str) -> bytes:
    """`<0A 0D>` are bytes, `<REPEAT 9 400>` is a repeated string, all else is literal."""

    def code(found: re.Match[str]) -> str:
        if found[1].startswith("REPEAT"):
            _, text, times = found[1].split(" ")
            return text * int(times)
        return bytes.fromhex(found[1]).decode("utf-8", "surrogateescape")

    return re.sub("<([^>]*)>", code, written).encode("utf-8", "surrogateescape")


def strictly_loaded(text: bytes) -> Any:
    """The result of Python's own parser, without its extensions of JSON."""

    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text.decode(), parse_constant=refuse)
