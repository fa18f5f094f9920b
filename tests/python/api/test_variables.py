"""The variables of the environment that a client reads itself, and names that nothing reads."""

from __future__ import annotations

import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

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
    with pytest.raises(da.ConfigError, match="DATAACCESS_TOKEN and DATAACCESS_TOKEN_FILE are both set: unset one"):
        kind(ADDRESS)
    kind(ADDRESS, token="another")


def test_the_token_of_the_file_stays_with_its_address(monkeypatch: pytest.MonkeyPatch, token: Path) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", ADDRESS)
    monkeypatch.setenv("DATAACCESS_TOKEN_FILE", str(token))
    with pytest.raises(da.ConfigError, match="token is not set: the token of DATAACCESS_TOKEN_FILE is for"):
        da.Client("https://elsewhere.example.com")


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("kind", CLASSES)
def test_the_zone_is_that_of_the_variable_unless_it_is_given(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setenv("DATAACCESS_TIMEZONE", "Asia/Ho_Chi_Minh")
    client = kind(ADDRESS, token="tok")
    assert client.timezone == "Asia/Ho_Chi_Minh"
    assert client.settings["timezone"].source == "environment variable DATAACCESS_TIMEZONE"
    assert kind(ADDRESS, token="tok", timezone="UTC").timezone == "UTC"
    assert client.with_options(timezone="UTC").settings["timezone"].source == "argument"
    assert kind("sandbox:demo").timezone == "UTC"
    monkeypatch.setenv("DATAACCESS_TIMEZONE", "Asia/Saigoon")
    with pytest.raises(da.ConfigError, match=r"^DATAACCESS_TIMEZONE: .*Asia/Saigoon"):
        kind(ADDRESS, token="tok")


def test_the_zone_of_the_variable_comes_before_that_of_the_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    (tmp_path / "dataaccess").mkdir()
    (tmp_path / "dataaccess" / "config.toml").write_text(
        f'[profiles.default]\nbase_url = "{ADDRESS}"\ntimezone = "Asia/Tokyo"\n'
    )
    assert da.Client(token="tok").timezone == "Asia/Tokyo"
    monkeypatch.setenv("DATAACCESS_TIMEZONE", "Asia/Ho_Chi_Minh")
    assert da.Client(token="tok").timezone == "Asia/Ho_Chi_Minh"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("DATAACCESS_URL", "did you mean 'DATAACCESS_BASE_URL'"),
        ("DATA_ACCESS_BASE_URL", "did you mean 'DATAACCESS_BASE_URL'"),
        ("DATAACCESS_TOKEN_PATH", "did you mean 'DATAACCESS_TOKEN"),
        ("DATAACCESS_XYZZY", "there are DATAACCESS_BASE_URL, "),
    ],
)
def test_a_variable_that_nothing_reads_is_named(monkeypatch: pytest.MonkeyPatch, name: str, advice: str) -> None:
    monkeypatch.setenv(name, "secret-value")
    with pytest.warns(da.DataAccessWarning, match=rf"^nothing reads the environment variable {name}; {advice}") as seen:
        da.Client(ADDRESS, token="tok")
    assert "secret-value" not in str(seen[0].message)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", da.SandboxWarning)
        da.Client("sandbox:demo")


def test_each_variable_of_the_sources_is_known() -> None:
    import re

    from dataaccess._client.variables import KNOWN

    texts = [path.read_text(encoding="utf-8") for path in Path(da.__file__).parent.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\bDATAACCESS_[A-Z_]+[A-Z]\b", text)}
    assert read - {"DATAACCESS_SPARK_ALLOW", "DATAACCESS_SPARK", "DATAACCESS_DEFAULT"} == KNOWN
    assert not KNOWN & os.environ.keys()
