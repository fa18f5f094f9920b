"""The variables of the environment that a client reads itself, and names that nothing reads."""

from __future__ import annotations

import os
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]
ADDRESS = "https://cdp.example.com"


@pytest.fixture
def token(tmp_path: Path, sandbox: da.Sandbox) -> Path:
    """The file of a token."""
    file = tmp_path / "token"
    file.write_text(f"{sandbox.issue_token()}\n")
    file.chmod(0o600)
    return file


def test_the_file_of_the_token_is_followed(monkeypatch: pytest.MonkeyPatch, sandbox: da.Sandbox, token: Path) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    day = da.on("2024-01-15")
    with da.Client() as client:
        assert client.settings["token"].source == "environment variable DATAACCESS_TOKEN_FILE"
        assert "token from environment" in repr(client)
        assert len(client.search_codes(["id"], allocated_time=day)) == 73
        sandbox.revoke(token.read_text().strip())
        token.write_text(sandbox.issue_token())
        assert len(client.search_codes(["id"], allocated_time=day)) == 73
        again = pickle.loads(pickle.dumps(client))
        assert len(again.search_codes(["id"], allocated_time=day)) == 73
        # The functions of the module follow the variable.
        assert len(da.search_codes(["id"], allocated_time=day)) == 73


@pytest.mark.parametrize("kind", CLASSES)
def test_two_tokens_are_refused(monkeypatch: pytest.MonkeyPatch, token: Path, kind: Any) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    with pytest.raises(da.ConfigError, match=r"\bDATAACCESS_TOKEN .*\bDATAACCESS_TOKEN_FILE ", check=about("token")):
        kind(ADDRESS)
    kind(ADDRESS, token="another")


def test_the_token_of_the_file_stays_with_its_address(monkeypatch: pytest.MonkeyPatch, token: Path) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", ADDRESS)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    shown = r" DATAACCESS_TOKEN_FILE .* DATAACCESS_BASE_URL, .* https://elsewhere\.example\.com "
    with pytest.raises(da.ConfigError, match=shown, check=about("token")):
        da.Client("https://elsewhere.example.com")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("DATAACCESS_URL", " 'DATAACCESS_BASE_URL'?"),
        ("DATA_ACCESS_BASE_URL", " 'DATAACCESS_BASE_URL'?"),
        ("DATAACCESS_TOKEN_PATH", " 'DATAACCESS_TOKEN"),
        ("DATAACCESS_XYZZY", " DATAACCESS_ALLOW_HTTP, "),
    ],
)
def test_a_variable_that_nothing_reads_is_named(monkeypatch: pytest.MonkeyPatch, name: str, advice: str) -> None:
    monkeypatch.setenv(name, "secret-value")
    with pytest.warns(da.DataAccessWarning, match=rf" {name}; .*{re.escape(advice)}") as seen:
        da.Client(ADDRESS, token="tok")
    assert "secret-value" not in str(seen[0].message)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", da.SandboxWarning)
        da.Client("sandbox:demo")


def test_each_variable_of_the_sources_is_known() -> None:
    from dataaccess._client.settings import KNOWN, SETTINGS

    texts = [path.read_text(encoding="utf-8") for path in Path(da.__file__).parent.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\bDATAACCESS_[A-Z_]+[A-Z]\b", text)}
    assert read - {"DATAACCESS_SPARK_ALLOW", "DATAACCESS_SPARK", "DATAACCESS_DEFAULT"} <= KNOWN
    assert KNOWN - read <= {spec.variable for spec in SETTINGS.values()}
    assert not KNOWN & os.environ.keys()


@pytest.mark.parametrize("kind", CLASSES)
def test_headers_of_the_environment_stay_with_its_service(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setenv("DATAACCESS_HEADERS", '{"X-Api-Key": "hunter2"}')
    # Without an address of the environment, code says which service they are for.
    client = kind("https://elsewhere.example.com", token=lambda: "tok")
    assert client.settings["headers"].value == {"X-Api-Key": "(hidden)"}
    assert "hunter2" not in repr(client.settings) + repr(vars(client))
    assert b"hunter2" not in pickle.dumps(da.Client(ADDRESS, token=da.token_file("token")))
    monkeypatch.setenv("DATAACCESS_BASE_URL", ADDRESS)
    assert kind("https://elsewhere.example.com", token="tok").settings["headers"].value is None
    own = kind(token=lambda: "tok")
    assert own.settings["headers"].source == "environment variable DATAACCESS_HEADERS"
    assert own.with_options(base_url="https://elsewhere.example.com").settings["headers"].value is None
    assert own.with_options(base_url=f"{ADDRESS}/v2").settings["headers"].value is not None


def test_a_proxy_of_the_environment_is_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_PROXY", "http://user:hunter2@proxy:3128")
    assert da.Client("http://localhost:1", token="tok").settings["proxy"].value is None
    client = da.Client(ADDRESS, token=lambda: "tok")
    assert client.settings["proxy"] == da.Setting("proxy:3128", "environment variable DATAACCESS_PROXY")
    assert client.with_options(base_url="http://127.1:1").settings["proxy"].value is None
    monkeypatch.setenv("HTTPS_PROXY", "http://other:3128")
    assert da.Client(ADDRESS, token="tok").settings["proxy"].value == "proxy:3128"
    assert da.Client(ADDRESS, token="tok", proxy=None).settings["proxy"].value is None
