"""A file of profiles, of a test of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

PROFILES = """
[profiles.default]
base_url = "https://cdp.example.com"
token = "tok-default"

[profiles.staging]
base_url = "https://staging.example.com"
token_file = "staging.token"
timezone = "Asia/Tokyo"
timeout = 20
retry_for = 2
concurrency = 3
headers = { X-Tenant = "acme", X-Api-Key = "hunter2" }
item_types = { store = 7 }
proxy = "http://user:hunter2@proxy:3128"
"""


class Config:
    """The file of profiles of a test."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dataaccess" / "config.toml"
        self.path.parent.mkdir()

    def write(self, text: str, mode: int = 0o600) -> None:
        self.path.write_text(text, encoding="utf-8")
        self.path.chmod(mode)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    config = Config(tmp_path)
    token = config.path.parent / "staging.token"
    token.write_text("tok-staging\n", encoding="utf-8")
    token.chmod(0o600)
    config.write(PROFILES)
    return config
