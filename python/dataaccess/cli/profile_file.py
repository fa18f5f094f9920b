"""Writes into the file of profiles: a new profile, or what one of them lacks. What is there stays, with comments."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from dataaccess._client.profiles import read
from dataaccess._probe import toml
from dataaccess.cli.complete_file import appearing
from dataaccess.cli.ending import USAGE, CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from pathlib import Path
    from typing import Any


def append(path: Path, name: str, lines: Iterable[str]) -> None:
    """Adds a profile with these lines.

    Raises:
        CommandError: The file is written in another form.
    """
    _write(path, appended(path, name, lines))


def appended(path: Path, name: str, lines: Iterable[str]) -> bytes:
    """The content of the file with a profile more.

    Raises:
        CommandError: The file is written in another form.
    """
    # Reading as text would replace the ends of lines.
    before = path.read_bytes().decode() if path.exists() else ""
    newline = _newline(before)
    separator = "" if not before else newline if before.endswith("\n") else 2 * newline
    written = before + separator + newline.join([f"[profiles.{toml.key(name)}]", *lines, ""])
    # `profiles = {…}` is closed: a table behind it would make the file invalid.
    if name not in _read(written):
        raise CommandError(f"{path} is written in another form: add the profile {name} by hand", USAGE)
    return written.encode()


def complete(
    path: Path, name: str, settings: Mapping[str, Any], lines_of: Callable[[Container[str]], list[str]]
) -> list[str]:
    """Adds settings to a profile, below its first line; makes the profile if there is none. Returns their names.

    Args:
        path: The file of profiles.
        name: The profile.
        settings: What it should have.
        lines_of: The lines of these settings, but for some names.

    Raises:
        CommandError: The profile has other values, which are yours to change, or is written in another form.
    """
    before = read(path).value.get(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if before is None:
        append(path, name, lines_of(()))
        return [*settings]
    wanted = _plain(settings)
    other = [key for key, value in wanted.items() if key in before and before[key] != value]
    if other:
        keys = " and ".join(other)
        raise CommandError(f"the profile {name} has another {keys}: change it in {path}, then try again", USAGE)
    lines = lines_of(before.keys())
    text = path.read_bytes().decode()
    newline = _newline(text)
    written, count = _header(name).subn(lambda found: newline.join([found[0], *lines]), text, count=1)
    if count == 0 or _read(written).get(name) != {**before, **wanted}:
        raise CommandError(
            f"the profile {name} in {path} is written in another form: add by hand what is printed", USAGE
        )
    if lines:
        _write(path, written.encode())
    return [key for key in wanted if key not in before]


def _header(name: str) -> re.Pattern[str]:
    """The first line of a profile."""
    spelled = "|".join(map(re.escape, {name, toml.key(name), json.dumps(name), f"'{name}'"}))
    end = r"[ \t]*(?:#[^\r\n]*)?(?=\r?$)"
    return re.compile(rf"^[ \t]*\[[ \t]*profiles[ \t]*\.[ \t]*(?:{spelled})[ \t]*\]{end}", re.MULTILINE)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as TOML reads them: a tuple is an array."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(settings)))
    return plain


def _read(text: str) -> dict[str, Any]:
    import tomllib

    try:
        profiles: dict[str, Any] = tomllib.loads(text)["profiles"]
    except (tomllib.TOMLDecodeError, KeyError):
        return {}
    return profiles


def _write(path: Path, content: bytes) -> None:
    with appearing(path, private=not path.exists()) as file:
        file.write(content)
