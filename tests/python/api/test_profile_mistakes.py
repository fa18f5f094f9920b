"""Profiles that cannot be used, and files that others can read."""

from __future__ import annotations

import os
import sys
import time
import traceback
import warnings
from typing import Any

import pytest
from support.profiles import PROFILES, Config

import dataaccess as da
from dataaccess._client.config_path import parsed
from dataaccess._core import tracebacks

MISTAKES = """
[profiles.one]
timeuot = 3
timeout = "hunter2"
token = 5
retries = true
headers = ["X-Key: hunter2"]
[profiles.two]
token = "tok-hunter2"
"""


def test_all_mistakes_are_reported_with_file_and_key(config: Config) -> None:
    config.write(MISTAKES)
    with pytest.raises(da.ConfigError) as caught:
        da.Client(profile="one")
    lines = caught.value.problems
    assert [line.partition(f"{config.path}: ")[2].partition(" ")[0] for line in lines] == [
        "profiles.one.timeuot",
        "profiles.one.timeout",
        "profiles.one.token",
        "profiles.one.retries",
        "profiles.one.headers",
    ]
    assert lines[0].endswith("is not a setting; did you mean 'timeout'?")
    assert str(caught.value).startswith("5 settings are invalid: (1) ")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "tok-hunter2" not in shown
    assert "X-Key" not in shown
    config.write('colour = "red"\n[profiles]\nthree = "tok-hunter2"\n')
    with pytest.raises(da.ConfigError, match=r"config\.toml: colour is unknown; settings are in \[profiles\.NAME\]"):
        da.Client(profile="three")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base_url = "cdp"', "base_url is not a URL"),
        ('base_url = "http://cdp.example.com"', "base_url .* is plain http"),
        ("retries = -1", "retries must be an integer from 0 to 10000, not -1"),
        ('timezone = "Foo/Bar"', "timezone.*Foo/Bar"),
        ("timeout = 0", "timeout must be more than 0"),
        ('ca_bundle = "none.pem"', "ca_bundle: .*none.pem"),
        ('headers = { Authorization = "hunter2" }', "headers may not set Authorization"),
    ],
)
def test_a_value_that_cannot_be_used_is_reported_with_its_key(config: Config, text: str, message: str) -> None:
    config.write(f"[profiles.one]\n{text}\n")
    with pytest.raises(da.ConfigError, match=rf"config\.toml: profiles\.one\.{message}") as caught:
        da.Client(profile="one", token="t")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[profiles", r"is not TOML \(at "),
        (b"token = 'tok-hunter2'\xff", "is not valid UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(config: Config, content: bytes, message: str) -> None:
    config.path.write_bytes(content)
    del content
    with pytest.raises(da.ConfigError, match=message) as caught:
        da.Client(profile="one")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "hunter2" not in shown
    assert caught.value.__cause__ is None


def completed() -> list[str]:
    """The profiles that a shell completes."""
    from dataaccess.cli import completing

    context: Any = None
    return completing._KNOWN["profile"](context)


SECRET = '[profiles.one]\ntoken = "tok-hunter2"\n'
STRANGE = {
    "larger than 1 MiB": SECRET + "#" * 2**20,
    "nested too deeply; settings are in": SECRET + "a = " + "[" * 5_000,
    "nested too deeply; settings": SECRET + ".".join("a" * 20_000) + " = 1",
    "nested too deeply; settings are": SECRET + "a = {" + ".".join("a" * 20_000) + " = 1}",
    "too many digits": SECRET + "a = " + "9" * 5_000,
}


@pytest.mark.parametrize("problem", STRANGE)
def test_a_strange_file_is_an_error_whose_frames_have_nothing_of_it(
    problem: str, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write(STRANGE[problem])
    # A debugger sees the frames that a traceback leaves out.
    monkeypatch.setattr(tracebacks, "_is_hidden", lambda *_error: False)
    begun = time.monotonic()
    with pytest.raises(da.ConfigError, match=rf"config\.toml .*{problem}") as caught:
        da.Client(profile="one")
    assert time.monotonic() - begun < 2
    error: BaseException | None = caught.value
    frames: list[object] = []
    while error is not None:
        frames += [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)][1:]
        error = error.__context__
    assert len(frames) > 3
    assert "hunter2" not in repr(frames)
    assert "999" not in repr(frames)


@pytest.mark.parametrize("line", ["# {}", "item_types = {{}} # {}", 'ca_bundle = """\n{}"""', "record = 'a=]\"{}'"])
def test_dots_of_a_comment_or_a_string_are_no_levels(line: str, config: Config) -> None:
    config.path.write_text("[profiles.one]\n" + line.format("." * 1_000), encoding="utf-8")
    assert list(parsed(config.path)[0]) == ["profiles"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes of this kind")
def test_a_pipe_is_no_file_of_profiles_and_nothing_waits_for_it(config: Config) -> None:
    config.path.unlink()
    os.mkfifo(config.path)
    with pytest.raises(da.ConfigError, match=r"config\.toml is not a regular file"):
        da.Client(profile="one")
    assert completed() == []
    config.path.unlink()
    config.path.mkdir()
    with pytest.raises(da.ConfigError, match=r"config\.toml cannot be read: "):
        da.Client(profile="one")


@pytest.mark.parametrize("problem", STRANGE)
def test_no_strange_file_stops_completion(problem: str, config: Config) -> None:
    config.write(STRANGE[problem])
    assert completed() == []
    config.write(SECRET)
    assert completed() == ["one"]


def test_a_profile_that_is_not_there_is_reported(config: Config) -> None:
    with pytest.raises(da.ConfigError, match=r"no profile 'stagin' in .*; did you mean 'staging'\?"):
        da.Client(profile="stagin")
    with pytest.raises(da.ConfigError, match="it has default, staging"):
        da.Client(profile="x")
    with pytest.raises(da.ConfigError, match="profile must be a string"):
        da.Client(profile=5)  # type: ignore[arg-type] # not a string
    with pytest.raises(TypeError, match="unexpected keyword argument 'profile'; a new profile needs a new client"):
        da.Client(profile="staging").with_options(profile="default")  # type: ignore[call-arg] # not a setting
    assert config.path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the mode does not say there who may read a file")
def test_a_file_with_a_token_that_others_can_read_causes_a_warning(config: Config) -> None:
    config.write(PROFILES, mode=0o640)
    with pytest.warns(da.DataAccessWarning, match=r"other users may read .*config\.toml, .*chmod 600") as caught:
        da.Client(profile="staging")
    assert caught[0].filename == __file__
    config.write('[profiles.one]\nbase_url = "https://cdp.example.com"\n', mode=0o644)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.Client(profile="one", token="t")
