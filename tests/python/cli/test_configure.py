"""`dataaccess configure`."""

from __future__ import annotations

import re
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the file of profiles will be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    return tmp_path / "dataaccess"


def test_a_profile_and_its_token_are_written_and_used(run: Any, folder: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        first = service.issue_token()
        address = ("--base-url", service.base_url)
        ended = run("configure", *address, "--timezone", "Asia/Tokyo", stdin=f"{first}\n".encode())
        assert ended.code == 0, ended
        assert first not in ended.output + ended.reported
        if sys.platform != "win32":
            assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert tomllib.loads((folder / "config.toml").read_text()) == {
            "profiles": {
                "default": {
                    "token_file": "default.token",
                    "base_url": service.base_url,
                    "timezone": "Asia/Tokyo",
                }
            }
        }
        assert run("codes", "--on", "2024-01-15").code == 0
        # A new token for the same profile; what is written by hand stays.
        text = (folder / "config.toml").read_text() + "# mine\n"
        (folder / "config.toml").write_text(text)
        service.revoke(first)
        assert run("codes", "--on", "2024-01-15").code == 77
        assert run("configure", stdin=service.issue_token().encode()).code == 0
        assert run("codes", "--on", "2024-01-15").code == 0
        assert (folder / "config.toml").read_text() == text
        # Another profile beside it.
        assert run("configure", "--profile", "other", *address, stdin=service.issue_token().encode()).code == 0
        assert (folder / "config.toml").read_text().startswith(text)
        assert run("codes", "--on", "2024-01-15", "--profile", "other").code == 0


@pytest.mark.parametrize("name", ["staging é", "😀", "a.b", "\x7f"])
def test_a_name_of_any_characters_leaves_the_file_readable(run: Any, folder: Path, name: str) -> None:
    address = ("--base-url", "https://cdp.example.com")
    for profile in ("first", name):
        assert run("configure", "--profile", profile, *address, stdin=b"tok").code == 0
    profiles = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))["profiles"]
    assert {key: value["token_file"] for key, value in profiles.items()} == {
        "first": "first.token",
        name: f"{name}.token",
    }
    assert da.Client(profile=name).settings["profile"].value == name


def test_a_file_in_another_form_is_left_alone(run: Any, folder: Path) -> None:
    folder.mkdir()
    text = 'profiles = { first = { timeout = "7s" } }\n'
    (folder / "config.toml").write_text(text)
    ended = run("configure", "--base-url", "https://cdp.example.com", "--profile", "other", stdin=b"tok")
    assert (ended.code, bool(re.search(r"config\.toml .*\bother\b", ended.reported))) == (2, True)
    assert (folder / "config.toml").read_text() == text
    assert [path.name for path in folder.iterdir()] == ["config.toml"]


def test_a_file_keeps_its_ends_of_lines(run: Any, folder: Path) -> None:
    folder.mkdir()
    text = b'# mine\r\n[profiles.first]\r\ntimeout = "7s"'
    (folder / "config.toml").write_bytes(text)
    assert run("configure", "--base-url", "https://cdp.example.com", "--profile", "other", stdin=b"tok").code == 0
    added = b'[profiles."other"]\r\ntoken_file = "other.token"\r\nbase_url = "https://cdp.example.com"\r\n'
    assert (folder / "config.toml").read_bytes() == text + b"\r\n\r\n" + added


def test_a_token_file_of_yours_is_named(run: Any, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.token"
    file.write_text("tok")
    assert run("configure", "--base-url", "https://cdp.example.com", "--token-file", str(file)).code == 0
    assert [path.name for path in folder.iterdir()] == ["config.toml"]
    assert da.Client().settings["token"].source.startswith("profile default")


@pytest.mark.parametrize(
    ("words", "stdin", "datum"),
    [
        ([], b"tok", "--base-url"),
        (["--base-url", "cdp"], b"tok", "base_url"),
        (["--base-url", "https://x", "--timezone", "Asia/Saigoon"], b"tok", "Asia/Saigoon"),
        (["--base-url", "https://x"], b"", "token"),
        (["--base-url", "https://x"], "tök secret".encode(), "token"),
        (["--base-url", "https://x", "--profile", "../x"], b"tok", "../x"),
    ],
)
def test_nothing_is_written_that_could_not_be_used(
    run: Any, folder: Path, words: list[str], stdin: bytes, datum: str
) -> None:
    ended = run("configure", *words, stdin=stdin)
    assert (ended.code, datum in ended.reported) == (2, True), ended
    assert "secret" not in ended.reported
    assert not (folder / "config.toml").exists()


def test_settings_that_exist_are_changed_by_hand(run: Any, folder: Path) -> None:
    assert run("configure", "--base-url", "https://x.example.com", stdin=b"tok").code == 0
    ended = run("configure", "--base-url", "https://y.example.com", stdin=b"tok-2")
    assert (ended.code, bool(re.search(r"\bdefault\b.* base_url ", ended.reported))) == (2, True)
    assert (folder / "default.token").read_text() == "tok\n"
    (folder / "config.toml").write_text('[profiles.default]\ntoken = "t"\n')
    assert run("configure", stdin=b"tok-2").code == 2
