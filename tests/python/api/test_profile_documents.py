"""Any file of profiles: the settings that it says, or an error that names the file, the profile and each key.

Never another exception, and never a secret in one.
"""

from __future__ import annotations

import tomllib
import traceback
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.profiles import Config
from support.toml_documents import PASSWORD, TOKEN, document, right_settings, settings_of_any_kind, texts

import dataaccess as da

# The file is written anew by each example.
shared = settings(
    max_examples=settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
ADDRESS = "https://cdp.example.com"


def shown(error: BaseException) -> str:
    """All that an error shows."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))


@shared
@given(profile=settings_of_any_kind(), name=texts)
def test_any_settings_are_taken_or_refused_by_name(config: Config, profile: dict[str, Any], name: str) -> None:
    config.write(document({name: profile}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataAccessWarning)
        client = refused = None
        try:
            client = da.Client(profile=name)
        except da.ConfigError as error:
            refused = error
    if refused is not None:
        text = shown(refused)
        # Without an address or a token there is nothing to name.
        if "base_url" in profile and {"token", "token_file"} & profile.keys():
            assert refused.problems
            for problem in refused.problems:
                assert f"{config.path}: profiles.{name}" in problem
                assert any(key in problem for key in profile)
    else:
        assert client is not None
        text = repr(client) + repr(client.settings)
        assert profile.keys() <= client.settings.keys() | {"token_file"}
    assert TOKEN not in text
    assert PASSWORD not in text


@shared
@given(chosen=right_settings, name=st.text(min_size=1, max_size=8))
def test_right_settings_are_read_as_they_are_documented(config: Config, chosen: dict[str, Any], name: str) -> None:
    written = {"base_url": ADDRESS, "token": TOKEN, **{key: given for key, (given, _) in chosen.items()}}
    config.write(document({name: written, "other": {"timeuot": 5}}))
    client = da.Client(profile=name)
    of_profile = f"profile {name} in {config.path}"
    for key, (_, expected) in chosen.items():
        assert (client.settings[key].value, client.settings[key].source) == (expected, of_profile)
    others = client.settings.keys() - chosen.keys() - {"base_url", "token", "profile"}
    assert {client.settings[key].source for key in others} <= {"default"}
    assert TOKEN not in repr(client) + repr(client.settings)


@shared
@given(
    content=st.binary(max_size=200) | st.text(alphabet="[]{}=\"'.\n\\#profilestokn1é\0", max_size=60).map(str.encode)
)
@example(content=b'profiles = {a = {token = "' + TOKEN.encode() + b'"}}')
@example(content=b'[profiles.a]\ntoken = """' + TOKEN.encode())
@example(content=b"profiles = 7")
@example(content=b'[profiles.a]\ntoken_file = "~a\\u0000"')
@example(content=b'[profiles.a]\nca_bundle = "\\u0000"')
@example(content=b"[profiles.a]\n" + b"a." * 5_000 + b"a = 1")
def test_any_bytes_are_read_or_refused_with_the_file(config: Config, content: bytes) -> None:
    config.path.write_bytes(content)
    for name in ("a", None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", da.DataAccessWarning)
            with pytest.raises(da.ConfigError) as caught:
                da.Client(profile=name)
        # Without a default profile the file says nothing; what names it needs an address and a token.
        assert str(config.path) in str(caught.value) or is_usable(content, name)
        assert TOKEN not in shown(caught.value)


def is_usable(content: bytes, name: str | None) -> bool:
    """Whether a file has nothing wrong about a profile, but no address."""
    try:
        profiles = tomllib.loads(content.decode()).get("profiles", {})
    except ValueError:
        return False
    return name is None if name not in profiles else "base_url" not in profiles[name]
