"""Profiles that cannot be used, and files that others can read."""

from __future__ import annotations

import re
import sys
import traceback
import warnings

import pytest
from support.arguments import about
from support.profiles import PROFILES, Config

import dataaccess as da

MISTAKES = """
[profiles.one]
timeuot = 3
timeout = "hunter2"
token = 5
known_row_cap = true
headers = ["X-Key: hunter2"]
[profiles.two]
token = "tok-hunter2"
"""


def test_all_mistakes_are_reported_with_key_and_file(config: Config) -> None:
    config.write(MISTAKES)
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", profile="one")
    lines = caught.value.problems
    named = ["timeout", "headers", "known_row_cap", "timeuot", "token"]
    assert [re.split("[ :]", line)[0] for line in lines] == named
    assert all(line.endswith(f" (profile one in {config.path})") for line in lines)
    assert " 'timeout'?" in lines[3]
    assert "hunter2" not in lines[1]
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "tok-hunter2" not in shown
    assert "X-Key" not in shown
    config.write('colour = "red"\n[profiles]\nthree = "tok-hunter2"\n')
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))} .* \[profiles\.NAME\]"):
        da.Client(profile="three")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("base_url", "'cdp'"),
        ("base_url", "'http://cdp.example.com'"),
        ("known_row_cap", "-1"),
        ("timezone", "'Foo/Bar'"),
        ("timeout", "0"),
        ("ca_bundle", "'none.pem'"),
        ("headers", "{ Authorization = 'hunter2' }"),
    ],
)
def test_a_value_that_cannot_be_used_is_reported_with_its_key(config: Config, name: str, text: str) -> None:
    config.write(f"[profiles.one]\n{name} = {text}\n")
    with pytest.raises(da.ConfigError) as caught:
        da.Client(None if name == "base_url" else "https://cdp.example.com", profile="one", token="t")
    (problem,) = caught.value.problems
    assert problem.startswith(name)
    assert f" (profile one in {config.path})" in problem
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(("content", "end"), [(b"[profiles", r" \(at .*\)"), (b"token = 'tok-hunter2'\xff", "")])
def test_a_file_that_cannot_be_read_is_reported(config: Config, content: bytes, end: str) -> None:
    config.path.write_bytes(content)
    del content
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))} .*\bTOML \w+ UTF-8{end}$") as caught:
        da.Client(profile="one")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "hunter2" not in shown
    assert caught.value.__cause__ is None


SECRET = '[profiles.one]\ntoken = "tok-hunter2"\n'
STRANGE = {"nested too deeply": SECRET + "a = " + "[" * 5_000, "too many digits": SECRET + "a = " + "9" * 5_000}


@pytest.mark.parametrize("problem", STRANGE)
def test_a_strange_file_is_an_error_whose_frames_have_nothing_of_it(problem: str, config: Config) -> None:
    config.write(STRANGE[problem])
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))} .*\bTOML\b") as caught:
        da.Client(profile="one")
    error: BaseException | None = caught.value
    frames: list[object] = []
    while error is not None:
        frames += [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)][1:]
        error = error.__context__
    assert len(frames) > 3
    assert "hunter2" not in repr(frames)
    assert "999" not in repr(frames)


def test_a_folder_in_place_of_the_file_is_reported(config: Config) -> None:
    config.path.unlink()
    config.path.mkdir()
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))} (?!.*TOML)"):
        da.Client(profile="one")


def test_a_profile_that_is_not_there_is_reported(config: Config) -> None:
    with pytest.raises(da.ConfigError, match=rf" 'stagin' .*{re.escape(str(config.path))}; .* default, staging$"):
        da.Client(profile="stagin")
    with pytest.raises(da.ConfigError, match=r" 'x' .* default, staging$"):
        da.Client(profile="x")
    with pytest.raises(da.ConfigError, check=about("profile")):
        da.Client(profile=5)  # type: ignore[arg-type] # not a string
    with pytest.raises(TypeError, match=" 'profile'; "):
        da.Client(profile="staging").with_options(profile="default")  # type: ignore[call-arg] # not a setting
    assert config.path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the mode does not say there who may read a file")
def test_a_file_with_a_token_that_others_can_read_causes_a_warning(config: Config) -> None:
    config.write(PROFILES, mode=0o640)
    with pytest.warns(da.DataAccessWarning, match=rf" {re.escape(str(config.path))}, .*\bchmod 600\b") as caught:
        da.Client(profile="staging")
    assert caught[0].filename == __file__
    config.write('[profiles.one]\nbase_url = "https://cdp.example.com"\n', mode=0o644)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.Client(profile="one", token="t")
