"""Files of profiles: one of a test of its own, and right, wrong and hostile ones that Hypothesis draws."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from dataaccess._client.settings import SETTINGS

PROFILES = """
[profiles.default]
base_url = "https://cdp.example.com"
token = "tok-default"

[profiles.staging]
base_url = "https://staging.example.com"
token_file = "staging.token"
timezone = "Asia/Tokyo"
timeout = 20
retry_for = 2
concurrency = 3
headers = { X-Tenant = "acme", X-Api-Key = "hunter2" }
item_types = { store = 7 }
proxy = "http://user:hunter2@proxy:3128"
"""


class Config:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "dataaccess" / "config.toml"
        self.path.parent.mkdir()

    def write(self, text: str, mode: int = 0o600) -> None:
        self.path.write_text(text, encoding="utf-8")
        self.path.chmod(mode)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    config = Config(tmp_path)
    token = config.path.parent / "staging.token"
    token.write_text("tok-staging\n", encoding="utf-8")
    token.chmod(0o600)
    config.write(PROFILES)
    return config


# Secrets that no message may show.
TOKEN, PASSWORD = "tok-fb1e52a9c3", "pass-77ab21ce"

# TOML is written here, as Python only reads it.

texts = st.text(max_size=12) | st.sampled_from(["", " ", "\0", "..", "~", "~nobody/x", "a\nb", "\x7f", "\u202e", "😀"])
scalars = st.one_of(
    texts,
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.datetimes(),
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30))])),
    st.dates(),
    st.times(),
    st.sampled_from(["90s", "1e3", "-1", "9" * 400, "nan", "inf", "true", "[]", "{}", '{"store": 7}']),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
# Values that the checks come near to accept.
near: dict[str, st.SearchStrategy[Any]] = {
    "base_url": st.sampled_from(
        [
            "https://cdp.example.com",
            "https://[::1",
            "http://cdp.example.com",
            "sandbox:demo?until=x",
            "//",
            "https://a:b@c/",
        ]
    ),
    "proxy": st.sampled_from([f"http://user:{PASSWORD}@proxy:3128", f"http://user:{PASSWORD}@", f"proxy {PASSWORD}"]),
    "headers": st.dictionaries(texts, texts | st.just(PASSWORD), max_size=3),
    "item_types": st.dictionaries(texts, st.integers() | st.dictionaries(texts, texts, max_size=2), max_size=3),
    "token": st.sampled_from([TOKEN, f"{TOKEN}\n", f" {TOKEN}", f"{TOKEN}é"]),
    "token_file": st.sampled_from(["token", "/", "", "~", "a\0b"]),
}


def settings_of_any_kind() -> st.SearchStrategy[dict[str, Any]]:
    """Settings of a profile: names that are right, misspelled or anything, with values of any type."""
    names = st.sampled_from([*SETTINGS, "token", "token_file", "timeuot", "Token"]) | texts
    pairs = names.flatmap(lambda name: st.tuples(st.just(name), near.get(name, values) | values))
    return st.lists(pairs, max_size=5).map(dict)


def document(profiles: Mapping[str, Any]) -> str:
    """A file with these profiles, each a table of its own."""
    tables = []
    for name, profile in profiles.items():
        lines = [f"{quoted(key)} = {value(one)}" for key, one in profile.items()]
        tables.append("\n".join([f"[profiles.{quoted(name)}]", *lines]))
    return "\n\n".join(tables) + "\n"


def value(given: Any) -> str:
    if isinstance(given, Mapping):
        return "{" + ", ".join(f"{quoted(key)} = {value(one)}" for key, one in given.items()) + "}"
    if isinstance(given, list):
        return f"[{', '.join(map(value, given))}]"
    if isinstance(given, datetime | date | time):
        return given.isoformat()
    if isinstance(given, float) and not math.isfinite(given):
        return str(given)
    return quoted(given) if isinstance(given, str) else json.dumps(given)


def quoted(text: str) -> str:
    """A string, or a key."""
    return re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
