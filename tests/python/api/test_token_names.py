"""A token in place of the path of its file is not printed."""

from __future__ import annotations

import errno
import os
import re
import traceback
from pathlib import Path

import pytest

import dataaccess as da

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
