"""Settings that are secret: in no pickle, representation or traceback."""

from __future__ import annotations

import errno
import os
import pickle
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

CLASSES = [da.Client, da.AsyncClient]


def private(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o600)
    return path


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("kind", CLASSES)
def test_a_client_pickles_when_its_token_can_be_found_again(
    kind: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = da.token_file(private(tmp_path / "token", b"tok-secret\n"))
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-secret")
    for client in (
        kind("https://cdp.example.com", timezone="Asia/Tokyo", headers={"X-A": "b"}),
        kind("https://cdp.example.com", token=token, timezone="Asia/Tokyo"),
        kind("sandbox:demo", timezone="Asia/Tokyo"),
    ):
        data = pickle.dumps(client)
        assert b"tok-secret" not in data
        again = pickle.loads(data)
        assert repr(again) == repr(client)
        assert again.timezone == "Asia/Tokyo"


def test_no_pickle_carries_a_secret_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    with pytest.raises(TypeError, match=r"\bpassword \w+ proxy\b"):
        pickle.dumps(da.Client("https://cdp.example.com", proxy="http://user:hunter2@proxy:3128"))


SECRET_HEADERS = [
    "Cookie", "X-Api-Key", "apikey", "X-Amz-Security-Token", "X-Client-Secret", "X-Session-Id", "JSESSIONID", "X-Auth",
    "X-Forwarded-Authorization", "X-Password",
]  # fmt: skip


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", SECRET_HEADERS)
def test_a_header_that_looks_like_a_secret_is_shown_nowhere_and_does_not_travel(
    monkeypatch: pytest.MonkeyPatch, kind: Any, name: str
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    client = kind("https://cdp.example.com", headers={"X-Tenant": "acme", name: "hunter2"})
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    held = (client, client.with_options(timeout=1), scan, scan.tasks()[0], {"nested": [client]})
    for one in held:
        assert "hunter2" not in repr(one)
        assert "hunter2" not in repr(getattr(one, "_settings", None))
        with pytest.raises(TypeError, match=rf"\bheader {name} ") as caught:
            pickle.dumps(one)
        assert_hidden(caught.value)
    # One that says nothing of a secret travels.
    assert pickle.loads(pickle.dumps(client.with_options(headers={"X-Tenant": "acme"})))._settings["headers"]


def walked(value: Any, depth: int = 6) -> str:
    """What a tool sees that walks through the containers of a local, as those that report errors do."""
    if depth and isinstance(value, dict):
        return " ".join(walked(each, depth - 1) for pair in dict(value).items() for each in pair)
    if depth and isinstance(value, list | tuple | set | frozenset):
        return " ".join(walked(each, depth - 1) for each in value)
    return repr(value)


def assert_hidden(error: BaseException) -> None:
    """Neither an error nor a frame of the package has the secret. A debugger sees those that a traceback leaves out."""
    package = str(Path(da.__file__).parent)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = [frame for frame in frames if frame.f_code.co_filename.startswith(package)]
    assert ours
    for frame in ours:
        assert "hunter2" not in walked(frame.f_locals), frame
    assert "hunter2" not in repr(error)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"timeout": "soon"}, {"timezone": 5, "item_types": 5, "timeout": -1}, {"tokn": "hunter2"}),
        *({"headers": ["X-Api-Key: hunter2"]}, {"headers": "X-Api-Key: hunter2"}, {"base_url": "http://x.example.com"}),
        *({"headers": {"X-Api-Key": "hunter2", "X-B": "\n"}}, {"ca_bundle": "/nowhere"}),
    ],
    ids=str,
)
def test_no_frame_of_a_wrong_setting_has_a_secret(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]) -> None:
    secrets = {"proxy": "http://user:hunter2@proxy:3128", "headers": {"X-Api-Key": "hunter2"}}
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    client = da.Client("https://cdp.example.com")
    acts: list[Any] = [
        lambda: da.Client(**{"base_url": "https://x", "token": "hunter2-2", **secrets, **wrong}),
        lambda: client.with_options(**{**secrets, **wrong}),
    ]
    for act in acts:
        with pytest.raises((TypeError, da.ConfigError)) as caught:
            act()
        assert_hidden(caught.value)


def test_no_frame_of_a_client_with_a_secret_header_has_it() -> None:
    client = da.Client("https://cdp.example.com", token="tok", headers={"X-Api-Key": "hunter2"})
    acts: list[Any] = [
        lambda: client.with_options(timeout=-1),
        lambda: client.with_options(base_url="https://elsewhere.example.com"),
        lambda: pickle.dumps(client),
    ]
    for act in acts:
        with pytest.raises((da.ConfigError, TypeError)) as caught:
            act()
        assert_hidden(caught.value)


@pytest.mark.both_clients
def test_no_local_of_a_frame_has_the_body_of_a_post(connect: Any) -> None:
    # It may be that of a login.
    with serving(always(http(b"", "400 Bad Request"))) as server:
        client = connect(server.base_url)
        with pytest.raises(da.RequestRejectedError) as caught:
            client.post("/access/api/login", {"user": "u", "password": "hunter2"})
    assert_hidden(caught.value)


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_the_demo_sandbox_has_one_token_for_all_clients() -> None:
    # More than a sandbox issues.
    client = da.Client("sandbox:demo")
    for _ in range(10_001):
        client = client.with_options(timeout=9)
    assert client.search_codes(["id"], allocated_time=da.yesterday(), limit=1)


# Token files, and tokens that are not Unicode: no error has a byte of a token.


def test_a_file_that_is_rotated_is_followed(connect: Any, tmp_path: Path) -> None:
    path = private(tmp_path / "token", b"tok-old\n")

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


def is_told(token: str, error: BaseException) -> bool:
    """Whether an error, or what it came from, has a token in any encoding: in fields, or in locals of our frames."""
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
    encoded = [repr(token.encode(name))[2:-1] for name in ("utf-8", "utf-16-le", "utf-16-be")]
    return any(part in repr(seen) for part in [token, *encoded, repr(token.encode("utf-16-le").decode())[1:-1]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_a_file_that_is_not_utf_8_is_reported_without_its_bytes(connect: Any, tmp_path: Path, encoding: str) -> None:
    path = private(tmp_path / "token", (f"{OWN}\xe9" if encoding == "latin-1" else OWN).encode(encoding))
    token = da.token_file(path)
    with serving(always(http())) as server:
        with pytest.raises(da.ConfigError, match=r"\bUTF-8\b|\bposition \d") as caught:
            search(connect(server.base_url, token=token))
        assert not is_told(OWN, caught.value)
        assert server.requests == []
    if encoding in {"utf-16", "utf-32", "latin-1"}:
        with pytest.raises(da.ConfigError, match=rf" {re.escape(str(path))} .*\bUTF-8\b") as caught:
            token()
        assert not is_told(OWN, caught.value)


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_named(connect: Any, tmp_path: Path, content: bytes) -> None:
    path = private(tmp_path / "token", content)
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


@pytest.mark.parametrize(
    "token",
    [TOKEN, f"{TOKEN}/{TOKEN}==", f"/{TOKEN}", f"eyJhbGciOiJI.{TOKEN}.{TOKEN}", f"./{TOKEN}"],
    ids=["plain", "base64", "slash", "jwt", "dot"],
)
def test_a_token_that_was_meant_as_one_is_not_in_the_error(token: str) -> None:
    with pytest.raises(da.ConfigError, match=rf": {MISSING} .*\b8 ") as caught:
        da.token_file(token)()
    assert "57622b1f" not in "".join(traceback.format_exception(caught.value))


def test_a_token_that_is_too_long_for_a_name_is_not_shown_either() -> None:
    with pytest.raises(da.ConfigError, match=os.strerror(errno.ENAMETOOLONG)) as caught:
        da.token_file(TOKEN * 20)()
    assert "57622b1f" not in "".join(traceback.format_exception(caught.value))


def test_what_exists_is_named(tmp_path: Path) -> None:
    folder = re.escape(str(tmp_path))
    for path, shown in (
        (tmp_path / "nowhere.token" / "x", rf" {folder}/nowhere\.… .*: {MISSING}"),
        (tmp_path / "short", rf" {folder}/short .*: {MISSING}$"),
        (tmp_path, rf" {folder} .*\bregular\b"),
    ):
        with pytest.raises(da.ConfigError, match=shown):
            da.token_file(path)()
