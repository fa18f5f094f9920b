"""A token file that is empty or missing for a moment, as it is rewritten in place, is read again.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support.searches import search

import dataaccess as da


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "token").touch(0o600)
    return tmp_path / "token"


@pytest.mark.parametrize("is_used", [False, True])
def test_a_file_that_is_empty_or_missing_for_a_moment(file: Path, sandbox: da.Sandbox, is_used: bool) -> None:
    tokens = sandbox.issue_token(), sandbox.issue_token()
    with da.Client(sandbox.base_url, token=da.token_file(file)) as client:
        if is_used:
            file.write_text(tokens[0], encoding="utf-8")
            search(client)
            sandbox.revoke(tokens[0])
            file.rename(file.with_name("old"))

        def write() -> None:
            file.touch(0o600)
            file.write_text(tokens[1], encoding="utf-8")

        threading.Timer(0.2, write).start()
        assert search(client)


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(("exists", "retryable", "exit_code"), [(False, False, 78), (True, True, 75)])
def test_a_file_that_stays_so(file: Path, sandbox: da.Sandbox, exists: bool, retryable: bool, exit_code: int) -> None:
    if not exists:
        file.unlink()
    with pytest.raises(da.ConfigError) as caught:
        search(da.Client(sandbox.base_url, token=da.token_file(file), retry_for=3))
    assert (caught.value.retryable, caught.value.exit_code) == (retryable, exit_code)
