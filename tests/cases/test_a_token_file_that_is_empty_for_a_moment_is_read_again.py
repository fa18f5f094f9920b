"""A token file that is empty or missing for a moment, as it is rewritten in place, is read again.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import dataaccess as da

DAY = da.on("2024-01-15")


def test_an_empty_file_is_read_again(tmp_path: Path, sandbox: da.Sandbox) -> None:
    file = tmp_path / "token"
    file.touch(mode=0o600)
    token = sandbox.issue_token()
    threading.Timer(0.3, lambda: file.write_text(token, encoding="utf-8")).start()
    with da.Client(sandbox.base_url, token=da.token_file(file)) as client:
        assert client.search_codes(["id"], allocated_time=DAY)


def test_a_file_that_is_missing_for_a_moment_is_read_again(tmp_path: Path, sandbox: da.Sandbox) -> None:
    file = tmp_path / "token"
    file.touch(mode=0o600)
    first, second = sandbox.issue_token(), sandbox.issue_token()
    file.write_text(first, encoding="utf-8")
    with da.Client(sandbox.base_url, token=da.token_file(file)) as client:
        assert client.search_codes(["id"], allocated_time=DAY)
        sandbox.revoke(first)
        file.unlink()

        def write() -> None:
            file.touch(mode=0o600)
            file.write_text(second, encoding="utf-8")

        threading.Timer(0.3, write).start()
        assert client.search_codes(["id"], allocated_time=DAY)


def test_a_file_that_never_existed_fails_at_once(tmp_path: Path, sandbox: da.Sandbox) -> None:
    with (
        da.Client(sandbox.base_url, token=da.token_file(tmp_path / "token")) as client,
        pytest.raises(da.ConfigError) as caught,
    ):
        client.search_codes(["id"], allocated_time=DAY)
    assert not caught.value.retryable
    assert caught.value.elapsed < 3


@pytest.mark.usefixtures("short_pauses")
def test_a_file_that_stays_empty_can_be_tried_later(tmp_path: Path, sandbox: da.Sandbox) -> None:
    file = tmp_path / "token"
    file.touch(mode=0o600)
    with (
        da.Client(sandbox.base_url, token=da.token_file(file), retry_for=3) as client,
        pytest.raises(da.ConfigError) as caught,
    ):
        client.search_codes(["id"], allocated_time=DAY)
    assert (caught.value.retryable, caught.value.exit_code) == (True, 75)
