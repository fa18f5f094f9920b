"""Settings that are secret: in no pickle, representation or traceback."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("kind", CLASSES)
def test_a_client_pickles_when_its_token_can_be_found_again(
    kind: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    secret = tmp_path / "token"
    secret.write_text("tok-secret\n")
    secret.chmod(0o600)
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-secret")
    for client in (
        kind("https://cdp.example.com", timezone="Asia/Tokyo", headers={"X-A": "b"}),
        kind("https://cdp.example.com", token=da.token_file(secret), timezone="Asia/Tokyo"),
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
        assert "hunter2" not in repr(caught.value)
        frames = [frame.f_locals for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
        assert "hunter2" not in repr(frames)
    # One that says nothing of a secret travels.
    assert pickle.loads(pickle.dumps(client.with_options(headers={"X-Tenant": "acme"})))._settings["headers"]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"timeout": "soon"}, {"timeout": -1}, {"timezone": 5, "item_types": 5, "timeout": -1}, {"tokn": "hunter2"}),
        *({"headers": ["X-Api-Key: hunter2"]}, {"headers": "X-Api-Key: hunter2"}, {"base_url": "http://x.example.com"}),
    ],
    ids=str,
)
def test_no_traceback_of_a_wrong_type_shows_a_secret(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]) -> None:
    secrets = {"proxy": "http://user:hunter2@proxy:3128", "headers": {"X-Api-Key": "hunter2"}, "token": "hunter2-2"}
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    client = da.Client("https://cdp.example.com")
    options = {name: value for name, value in {**secrets, **wrong}.items() if name != "token"}
    acts: list[Any] = [
        lambda: da.Client(**{"base_url": "https://x", **secrets, **wrong}),
        lambda: client.with_options(**options),
    ]
    for act in acts:
        with pytest.raises((TypeError, da.ConfigError)) as caught:
            act()
        message = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        ours = [frame for frame in message.stack if frame.filename.startswith(str(Path(da.__file__).parent))]
        assert ours
        # A debugger sees the frames that a traceback leaves out.
        assert "hunter2" not in repr([frame.locals for frame in ours])
        assert "hunter2" not in repr(caught.value)


def walked(value: Any, depth: int = 6) -> str:
    """What a tool sees that walks through the containers of a local, as those that report errors do."""
    if depth and isinstance(value, dict):
        return " ".join(walked(each, depth - 1) for pair in dict(value).items() for each in pair)
    if depth and isinstance(value, list | tuple | set | frozenset):
        return " ".join(walked(each, depth - 1) for each in value)
    return repr(value)


def test_no_local_of_a_frame_has_the_value_of_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    client = da.Client("https://cdp.example.com", token="tok", headers={"X-Api-Key": "hunter2"})
    acts: list[Any] = [
        lambda: da.Client("https://x", token="tok", headers={"X-Api-Key": "hunter2"}, ca_bundle="/nowhere"),
        lambda: da.Client("https://x", token="tok", headers={"X-Api-Key": "hunter2", "X-B": "\n"}),
        lambda: client.with_options(timeout=-1),
        lambda: client.with_options(base_url="https://elsewhere.example.com"),
        lambda: pickle.dumps(client),
    ]
    for act in acts:
        with pytest.raises((da.ConfigError, TypeError)) as caught:
            act()
        frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        ours = [frame for frame in frames if frame.f_code.co_filename.startswith(str(Path(da.__file__).parent))]
        assert ours
        for frame in ours:
            assert "hunter2" not in walked(frame.f_locals), frame


@pytest.mark.both_clients
def test_no_local_of_a_frame_has_the_body_of_a_post(connect: Any) -> None:
    # It may be that of a login.
    with serving(always(http(b"", "400 Bad Request"))) as server:
        client = connect(server.base_url)
        with pytest.raises(da.RequestRejectedError) as caught:
            client.post("/access/api/login", {"user": "u", "password": "hunter2"})
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    ours = [frame for frame in frames if frame.f_code.co_filename.startswith(str(Path(da.__file__).parent))]
    assert ours
    for frame in ours:
        assert "hunter2" not in walked(frame.f_locals), frame


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_the_demo_sandbox_has_one_token_for_all_clients() -> None:
    # More than a sandbox issues.
    client = da.Client("sandbox:demo")
    for _ in range(10_001):
        client = client.with_options(timeout=9)
    assert client.search_codes(["id"], allocated_time=da.yesterday(), limit=1)
