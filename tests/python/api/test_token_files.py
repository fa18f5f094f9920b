"""Token files, and tokens that are not Unicode: no error has a byte of a token."""

from __future__ import annotations

import errno
import os
import re
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about
from support.failures import DENIED
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da


def test_a_file_that_is_rotated_is_followed(connect: Any, tmp_path: Any) -> None:
    path = tmp_path / "token"
    path.write_text("tok-old\n")
    path.chmod(0o600)

    def respond(connection: Any, number: int) -> None:
        path.write_text("  tok-new\n")
        connection.sendall(DENIED if number == 0 else http())

    with serving(respond) as server:
        search(connect(server.base_url, token=da.token_file(path)))
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer tok-old", "Bearer tok-new"]


def test_a_file_others_may_read_is_reported(tmp_path: Any) -> None:
    path = tmp_path / "token"
    path.write_text("tok")
    path.chmod(0o644)
    with pytest.warns(da.DataAccessWarning, match=rf" {re.escape(str(path))}; .*\bchmod 600\b"):
        assert da.token_file(path)() == "tok"
    with pytest.raises(da.ConfigError, match=rf" {re.escape(str(tmp_path / 'nothing'))} "):
        da.token_file(tmp_path / "nothing")()


def test_a_file_that_is_missing_is_reported_by_its_name(connect: Any, tmp_path: Any) -> None:
    path = tmp_path / "nothing"
    with serving(always(http())) as server, pytest.raises(da.ConfigError, match=rf" {re.escape(str(path))} "):
        search(connect(server.base_url, token=da.token_file(path)))


OWN = "tok-of-a-file-0123456789"


def everything_in(error: BaseException) -> str:
    """All that an error, and each it came from, holds: its text, arguments, fields, and the locals of our frames."""
    seen: list[object] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None:
            continue
        waiting += [one.__cause__, one.__context__]
        fields = [getattr(one, name) for name in dir(one) if name in {"object", "reason", "doc"}]
        frames = traceback.TracebackException.from_exception(one, capture_locals=True).stack
        ours = [frame.locals for frame in frames if frame.filename.startswith(str(Path(da.__file__).parent))]
        seen += [repr(one), str(one), one.args, vars(one), fields, ours]
    return repr(seen)


def is_told(token: str, error: BaseException) -> bool:
    """Whether an error holds a token, in any of the encodings that a file may have."""
    seen = everything_in(error)
    encoded = [repr(token.encode(name))[2:-1] for name in ("utf-8", "utf-16-le", "utf-16-be")]
    return any(part in seen for part in [token, *encoded, repr(token.encode("utf-16-le").decode())[1:-1]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_a_file_that_is_not_utf_8_is_reported_without_its_bytes(connect: Any, tmp_path: Any, encoding: str) -> None:
    path = tmp_path / "token"
    path.write_bytes((f"{OWN}\xe9" if encoding == "latin-1" else OWN).encode(encoding))
    path.chmod(0o600)
    token = da.token_file(path)
    with (
        serving(always(http())) as server,
        pytest.raises(da.ConfigError, match=r"\bUTF-8\b|\bposition \d") as caught,
    ):
        search(connect(server.base_url, token=token))
    assert not is_told(OWN, caught.value)
    if encoding in {"utf-16", "utf-32", "latin-1"}:
        with pytest.raises(da.ConfigError, match=rf" {re.escape(str(path))} .*\bUTF-8\b") as caught:
            token()
        assert not is_told(OWN, caught.value)
    assert server.requests == []


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_file_is_named(connect: Any, tmp_path: Any, content: str) -> None:
    path = tmp_path / "token"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with serving(always(http())) as server:
        with pytest.raises(da.ConfigError, match=rf" {re.escape(str(path))} .*\bempty\b"):
            search(connect(server.base_url, token=da.token_file(path), retry_for=0))
        assert server.requests == []


@pytest.mark.parametrize("given", [f"{OWN}\udc80", (f"{OWN}\udc80", time.time() + 3600)])
def test_a_callable_with_invalid_unicode_is_reported_without_the_token(connect: Any, given: Any) -> None:
    with serving(always(http())) as server, pytest.raises(da.ConfigError, match=r"\bUTF-8$") as caught:
        search(connect(server.base_url, token=lambda: given))
    assert not is_told(OWN, caught.value)


def test_a_token_that_is_no_unicode_is_reported_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(da.ConfigError, match=r"\bsurrogate\b", check=about("token")) as caught:
        da.Client("https://cdp.example.com", token=f"{OWN}\udc80")
    assert not is_told(OWN, caught.value)
    monkeypatch.setenv("DATAACCESS_TOKEN", f"{OWN}\udc80")
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com")
    assert not is_told(OWN, caught.value)


# In place of the path of its file.
TOKEN = "sbx_57622b1f0c3a4d5e8f9a0b1c2d3e4f50"
MISSING = os.strerror(errno.ENOENT)


def printed(error: BaseException) -> str:
    """All that an error prints, with what it came from."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    "token",
    [TOKEN, f"{TOKEN}/{TOKEN}==", f"/{TOKEN}", f"eyJhbGciOiJI.{TOKEN}.{TOKEN}", f"./{TOKEN}"],
    ids=["plain", "base64", "slash", "jwt", "dot"],
)
def test_a_token_that_was_meant_as_one_is_not_in_the_error(token: str) -> None:
    with pytest.raises(da.ConfigError, match=rf": {MISSING} .*\b8 ") as caught:
        da.token_file(token)()
    assert "57622b1f" not in printed(caught.value)


def test_a_token_that_is_too_long_for_a_name_is_not_shown_either() -> None:
    with pytest.raises(da.ConfigError, match=os.strerror(errno.ENAMETOOLONG)) as caught:
        da.token_file(TOKEN * 20)()
    assert "57622b1f" not in printed(caught.value)


def test_what_exists_is_named(tmp_path: Path) -> None:
    folder = re.escape(str(tmp_path))
    for path, shown in (
        (tmp_path / "nowhere.token" / "x", rf" {folder}/nowhere\.… .*: {MISSING}"),
        (tmp_path / "short", rf" {folder}/short .*: {MISSING}$"),
        (tmp_path, rf" {folder} .*\bregular\b"),
    ):
        with pytest.raises(da.ConfigError, match=shown):
            da.token_file(path)()
