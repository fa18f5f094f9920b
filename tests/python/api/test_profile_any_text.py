"""A file of profiles of any text: a client, or a `ConfigError` without the token of another profile."""

from __future__ import annotations

import json
import traceback
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.profiles import PROFILES, Config

import dataaccess as da
from dataaccess._client.settings import SETTINGS

TOKEN = "tok-of-nobody"
NAMES = st.sampled_from([*SETTINGS, "token", "token_file", "tokne"]) | st.text(max_size=3)
LEAVES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["~a\0", "sandbox:", "https://cdp.example.com", "UTC", "Mars", "~", "\0", "/"]),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2), max_leaves=4
)
BROKEN = [*"[]{}=\"'#.,\n\r\t\\", "'''", '"""', "[[", "]]", "2024-01-15", "1e9", "inf", "\0", "\ufeff", "é", "token"]


def toml(value: Any) -> str:
    """A value as TOML."""
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case str():
            # As TOML's escapes are those of JSON, but for half a surrogate pair.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return "true" if value else "false"
        case _:
            return repr(value)


def profile(values: dict[str, Any]) -> str:
    """A profile with these settings."""
    return "".join(["[profiles.default]\n", *(f"{json.dumps(key)} = {toml(each)}\n" for key, each in values.items())])


TEXTS = st.one_of(
    st.dictionaries(NAMES, VALUES, max_size=5).map(profile),
    st.lists(st.sampled_from(BROKEN) | st.text(max_size=3), max_size=20).map("".join),
    st.tuples(st.integers(0, len(PROFILES)), st.sampled_from(BROKEN)).map(
        lambda change: PROFILES[: change[0]] + change[1] + PROFILES[change[0] + len(change[1]) :]
    ),
)


def failure() -> da.ConfigError | None:
    """The error of a client with the profile; none if there is a client."""
    try:
        da.Client(profile="default")
    except da.ConfigError as error:
        return error
    return None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
@example(text='[profiles.default]\ntoken_file = "~a\\u0000"')
@example(text='[profiles.default]\nca_bundle = "\\u0000"')
@example(text="profiles = 7")
@example(text="[profiles.default]\n" + "a." * 5_000 + "a = 1")
def test_any_file_makes_a_client_or_a_config_error(config: Config, text: str) -> None:
    config.write(f"{text}\n[profiles.other]\ntoken = {TOKEN!r}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", da.DataAccessWarning)
        error = failure()
    if error is not None:
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert TOKEN not in shown


@given(content=st.binary(max_size=50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_make_a_client_or_a_config_error(config: Config, content: bytes) -> None:
    config.path.write_bytes(content)
    with pytest.raises(da.ConfigError, match=r"config\.toml"):
        da.Client(profile="default")
