"""A token of the worker's environment or of a connection goes only to the service that it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from service import wait_until

import dataaccess as da
from dataaccess.airflow import DataAccessHook, hook

Connect = Callable[..., str]


@pytest.fixture
def stranger() -> Iterator[da.Sandbox]:
    """A service that only a connection names."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox
        assert sandbox.requests == []


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the file of profiles of the worker."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def write(text: str) -> None:
        path = tmp_path / "dataaccess" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)

    return write


def both(**settings: Any) -> list[Any]:
    """The clients of the connection, of both kinds."""
    hook = DataAccessHook()
    return [lambda: hook.client(**settings), lambda: asyncio.run(hook.async_client(**settings))]


def refused(message: str, **settings: Any) -> None:
    for make in both(**settings):
        with pytest.raises(da.ConfigError, match=message) as caught:
            make()
        assert "tok-" not in str(caught.value)


@pytest.fixture(params=["DATAACCESS_TOKEN", "DATAACCESS_TOKEN_FILE"])
def production(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Sets the token of the worker's environment, by each of its variables."""

    def production(token: str) -> None:
        path = tmp_path / "token"
        path.write_text(token)
        path.chmod(0o600)
        monkeypatch.setenv(request.param, token if request.param == "DATAACCESS_TOKEN" else str(path))

    return production


NO_PASSWORD = r"'dataaccess_default'.* https?://.*\bpassword\b"


@pytest.mark.parametrize("own", [None, "https://cdp.example.com"])
def test_a_host_without_a_password_gets_no_token_of_the_worker(
    connect: Connect,
    stranger: da.Sandbox,
    own: str | None,
    production: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    production("tok-production")
    if own is not None:
        monkeypatch.setenv("DATAACCESS_BASE_URL", own)
    connect(host=stranger.base_url, password="")
    refused(NO_PASSWORD)
    connect(host=rf"{stranger.base_url}\@cdp.example.com", password="")
    refused("backslash")


def test_the_token_of_the_worker_goes_to_the_address_of_its_environment(
    connect: Connect, sandbox: da.Sandbox, production: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    production(sandbox.issue_token())
    for host in ("", f"{sandbox.base_url}/"):
        connect(host=host, password="")
        client = DataAccessHook().get_conn()
        assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    connect(host="sandbox:demo", password="")
    assert DataAccessHook().get_conn().is_sandbox


def test_a_profile_that_a_connection_names_gets_no_token_of_the_environment(
    connect: Connect,
    stranger: da.Sandbox,
    profiles: Callable[[str], None],
    production: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profiles(f'[profiles.staging]\nbase_url = "{stranger.base_url}"\ntoken = "tok-staging"\n')
    connect(host="", password="", extra={"profile": "staging"})
    # The token of the profile is for its address.
    assert [make().base_url for make in both()] == [stranger.base_url] * 2
    production("tok-production")
    refused(NO_PASSWORD)
    # What the environment names itself is no choice of the connection.
    monkeypatch.setenv("DATAACCESS_PROFILE", "staging")
    assert [make().base_url for make in both()] == [stranger.base_url] * 2


def test_a_profile_of_the_code_counts_and_not_that_of_the_worker(
    connect: Connect, stranger: da.Sandbox, profiles: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles(f'[profiles.prod]\nbase_url = "{stranger.base_url}"\ntoken = "tok-prod"\n')
    monkeypatch.setenv("DATAACCESS_PROFILE", "absent")
    connect(host="", password="")
    assert DataAccessHook().client(profile="prod").base_url == stranger.base_url


def test_a_profile_without_an_address_leaves_none_to_the_connection(
    connect: Connect, stranger: da.Sandbox, profiles: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles('[profiles.any]\ntoken = "tok-any"\n')
    connect(host=stranger.base_url, password="", extra={"profile": "any"})
    refused(NO_PASSWORD)
    monkeypatch.setenv("DATAACCESS_PROFILE", "any")
    connect(host=stranger.base_url, password="")
    refused(NO_PASSWORD)


def test_a_password_goes_to_the_host_of_its_connection_alone(
    connect: Connect, sandbox: da.Sandbox, stranger: da.Sandbox
) -> None:
    connect(extra={"headers": {"X-Api-Key": "tok-header"}})
    refused(rf"\b{sandbox.base_url}\b.*\bbase_url\b.*\b{stranger.base_url}\b", base_url=stranger.base_url)
    for make in both():
        with pytest.raises(da.ConfigError, match="base_url"):
            make().with_options(base_url=stranger.base_url)
    assert [make().base_url for make in both(base_url=f"{sandbox.base_url}/v2")] == [f"{sandbox.base_url}/v2"] * 2


def test_a_secrets_backend_that_hangs_leaves_no_thread_or_coroutine(
    connect: Connect, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "_SECONDS_FOR_TOKEN", 0.05)
    token = connect(extra={"retry_for": 5})
    read = DataAccessHook.aget_connection
    hanging: list[bool] = []

    async def aget_connection(conn_id: str) -> Any:
        if not hanging:
            hanging.append(False)
            return await read(conn_id)
        hanging.append(True)
        return await asyncio.Event().wait()

    monkeypatch.setattr(DataAccessHook, "aget_connection", staticmethod(aget_connection))

    async def ask() -> None:
        tasks = asyncio.all_tasks()
        async with await DataAccessHook().async_client() as client:
            await client.download_segment(5637051)
            sandbox.revoke(token)
            with pytest.raises(da.ConfigError, match=r"'dataaccess_default'.*\b0\.05 s") as caught:
                await client.download_segment(5637051)
            # So Airflow may retry the task.
            assert caught.value.retryable
            while asyncio.all_tasks() != tasks:
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(ask(), 30))
    assert any(hanging)
    wait_until(lambda: "dataaccess-toke" not in thread_names(), "the end of the threads that read the token")


def thread_names() -> list[str]:
    """Of this process; Linux cuts them."""
    return [name.read_text().strip() for name in Path("/proc/self/task").glob("*/comm")]


@pytest.mark.usefixtures("connect")
def test_the_service_learns_that_airflow_asks(sandbox: da.Sandbox) -> None:
    from airflow import __version__

    def ends() -> str:
        return sandbox.requests[-1].headers["user-agent"].partition(") ")[2]

    product = f"airflow/{'.'.join(__version__.split('.')[:2])}"
    hook = DataAccessHook()
    hook.client(user_agent="nightly-job/3").search_codes(["id"], allocated_time=da.on("2024-01-15"))
    assert ends() == f"{product} nightly-job/3"

    async def search() -> None:
        client = await hook.async_client()
        await client.search_codes(["id"], allocated_time=da.on("2024-01-15"))

    asyncio.run(search())
    assert ends() == product
