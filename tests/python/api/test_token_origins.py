"""A token goes only to the service that it is for, whichever way an address gets to a client."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.profiles import Config
from support.raw_server import RawServer, always, http, serving
from support.searches import search

import dataaccess as da
from dataaccess._client.resolve import origin

CLASSES = [da.Client, da.AsyncClient]
GOOD = "http://localhost:8"
PROFILE = f"""
[profiles.good]
base_url = "{GOOD}"
token = "tok-profile"
headers = {{ X-Api-Key = "hunter2" }}
timezone = "Asia/Tokyo"
"""
# Addresses of another host that some parser reads as the good one, and one that every parser reads alike.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "another": "http://{}".format,
    "a backslash": r"http://{}\@localhost:8".format,
    "backslashes": r"http:\\{}\@localhost:8".format,
    "a tab": "http://{}\t@localhost:8".format,
    "no slashes": "http:{}".format,
    "one slash": "http:/{}".format,
    "three slashes": "http:///{}".format,
    "a user": "http://localhost:8@{}".format,
}


@pytest.fixture
def evil() -> Iterator[RawServer]:
    """A service that nobody gave a token for."""
    with serving(always(http())) as server:
        yield server
        assert server.requests == []


@pytest.fixture(params=SPELLINGS)
def address(request: pytest.FixtureRequest, evil: RawServer) -> str:
    """An address of that service."""
    return SPELLINGS[request.param](f"127.0.0.1:{evil.port}")


@pytest.fixture(params=["profile", "environment"])
def named(request: pytest.FixtureRequest, config: Config, monkeypatch: pytest.MonkeyPatch) -> str:
    """Says address and token, in a profile or in the environment."""
    config.write(PROFILE)
    if request.param == "environment":
        monkeypatch.setenv("DATAACCESS_BASE_URL", GOOD)
        monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    else:
        monkeypatch.setenv("DATAACCESS_PROFILE", "good")
    return str(request.param)


def refused(act: Callable[[], object]) -> str:
    """The error of a client that is not made, which shows no secret."""
    with pytest.raises(da.ConfigError) as caught:
        act()
    assert "tok-" not in str(caught.value)
    assert "hunter2" not in str(caught.value)
    return str(caught.value)


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("kind", CLASSES)
def test_an_argument_gets_no_token_of_another_service(address: str, kind: Any) -> None:
    refused(lambda: kind(address))


@pytest.mark.usefixtures("named")
def test_an_argument_of_the_same_service_gets_the_token() -> None:
    assert da.Client("http://LOCALHOST:8/v2/").base_url == f"{GOOD}/v2"


@pytest.mark.usefixtures("named")
def test_a_variable_gets_no_token_of_a_profile(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATAACCESS_TOKEN", raising=False)
    monkeypatch.setenv("DATAACCESS_BASE_URL", address)
    refused(lambda: da.Client(profile="good"))


@pytest.mark.usefixtures("named")
def test_functions_of_the_module_get_no_token_of_a_profile(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATAACCESS_TOKEN", raising=False)
    monkeypatch.setenv("DATAACCESS_PROFILE", "good")
    monkeypatch.setenv("DATAACCESS_BASE_URL", address)
    refused(lambda: search(da))


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("words", [["codes", "--on", "2024-01-15"], ["check"], ["check", "--profile", "good"]])
def test_the_command_sends_no_token_to_another_service(
    address: str, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    from dataaccess.cli import main

    assert main([*words, "--base-url", address]) in {2, 78}
    printed = capfd.readouterr()
    assert "tok-" not in printed.out + printed.err


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("kind", CLASSES)
def test_a_copy_sends_no_token_to_another_service(address: str, kind: Any) -> None:
    refused(lambda: kind().with_options(base_url=address))


@pytest.mark.parametrize("kind", CLASSES)
def test_the_token_of_the_environment_goes_to_its_address_and_not_to_one_of_a_profile(
    kind: Any, evil: RawServer, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write(f'[profiles.other]\nbase_url = "{evil.base_url}"\n')
    monkeypatch.setenv("DATAACCESS_BASE_URL", GOOD)
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    # The environment wins over a profile.
    assert kind(profile="other").base_url == GOOD
    refused(lambda: kind(evil.base_url, profile="other"))


def test_code_names_an_address_where_the_environment_names_none(
    evil: RawServer, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    client = da.Client(evil.base_url)
    assert repr(client).endswith("token from environment)")
    # What a profile names counts as well.
    config.write(PROFILE)
    message = refused(lambda: da.Client(evil.base_url, profile="good"))
    assert re.search(rf"^token .* {GOOD}, .* {re.escape(evil.base_url)} ", message)
    # Of two tokens, that for the address is used.
    monkeypatch.setenv("DATAACCESS_BASE_URL", evil.base_url)
    assert repr(da.Client(GOOD, profile="good")).endswith("token from profile good)")


def test_the_error_says_whose_token_it_is(evil: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://user:hunter2@cdp.example.com")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    message = refused(lambda: da.Client(evil.base_url))
    assert re.search(rf"^token .* DATAACCESS_TOKEN .* DATAACCESS_BASE_URL, .* {re.escape(evil.base_url)} ", message)
    assert da.Client(evil.base_url, token="tok-own").base_url == evil.base_url


def test_a_client_that_travelled_finds_no_token_of_another_service(
    evil: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    data = pickle.dumps(da.Client(evil.base_url))
    assert pickle.loads(data).base_url == evil.base_url
    monkeypatch.setenv("DATAACCESS_BASE_URL", GOOD)
    refused(lambda: pickle.loads(data))


@pytest.mark.parametrize("kind", CLASSES)
def test_headers_of_a_profile_stay_with_its_service_in_a_copy(kind: Any, evil: RawServer, config: Config) -> None:
    config.write(PROFILE)
    client = kind(profile="good", token=lambda: "tok-of-any")
    assert client.settings["headers"].source.startswith("profile good")
    moved = client.with_options(base_url=evil.base_url)
    assert (moved.settings["headers"].value, moved.settings["headers"].source) == (None, "default")
    assert moved.timezone == "Asia/Tokyo"
    assert client.with_options(base_url=f"{GOOD}/v2").settings["headers"].value == {"X-Api-Key": "(hidden)"}


def test_a_token_file_is_for_one_service(evil: RawServer, tmp_path: Any) -> None:
    client = da.Client(GOOD, token=da.token_file(tmp_path / "token"))
    refused(lambda: client.with_options(base_url=evil.base_url))
    assert client.with_options(base_url=f"{GOOD}/v2").base_url == f"{GOOD}/v2"


HOSTS = st.sampled_from(["a.example", "b.example", "A.EXAMPLE", "a.example:80", "a.example:443", "b.example:8080", ""])
PIECES = st.sampled_from(
    ["http:", "https:", "HTTP:", "//", "/", "\\", "@", "?", "#", ":", "\t", "\n", " ", "%2f", "。", "x"]
)
ADDRESSES = st.builds(
    lambda scheme, slashes, parts: scheme + slashes + "".join(parts),
    st.sampled_from(["http:", "https:", "HTTP:", "sandbox:", ""]),
    st.sampled_from(["//", "/", "", "///", "\\\\", "\\/"]),
    st.lists(HOSTS | PIECES, max_size=6),
)


@given(own=ADDRESSES, other=ADDRESSES)
@example(own="http://good", other="http://evil\\@good")
@example(own="http:good", other="http:evil")
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_two_addresses_of_one_origin_here_have_one_origin_in_the_core(own: str, other: str) -> None:
    """Here: what the checks of tokens compare. In the core: where requests go."""
    sent: list[tuple[str, str] | None] = []
    for address in (own, other):
        try:
            client = da.Client(address, token="tok", allow_http=True)
        except da.ConfigError:
            assert origin(address) is None or address.startswith("sandbox:")
            sent.append(None)
        else:
            # An accepted address has the same host for other programs of Python.
            assert urlsplit(address.strip()).hostname in {urlsplit(client.base_url).hostname, None} or "。" in address
            parts = urlsplit(client.base_url)
            sent.append((parts.scheme, parts.netloc))
            assert origin(address) == origin(client.base_url) == f"{parts.scheme}://{parts.netloc}"
    if None not in sent:
        assert (origin(own) == origin(other)) == (sent[0] == sent[1])


@given(own=ADDRESSES, other=ADDRESSES)
@example(own="http://good", other="http://evil\\@good")
@example(own="http://good", other="http:evil")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_token_of_a_profile_goes_to_the_origin_of_its_address_alone(config: Config, own: str, other: str) -> None:
    quoted = own.translate({code: f"\\u{code:04x}" for code in [*range(32), ord('"'), ord("\\")]})
    config.write(f'[profiles.p]\nbase_url = "{quoted}"\ntoken = "tok-profile"\nallow_http = true\n')
    try:
        client = da.Client(other, profile="p")
    except da.ConfigError:
        return
    assert origin(client.base_url) == origin(own)
