"""A token file that an editor began with a byte order mark is read.

Source: RFC 3629, section 6; Notepad and PowerShell write one.
"""

from __future__ import annotations

from pathlib import Path

from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da


def test_the_mark_is_not_a_part_of_the_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"\xef\xbb\xbftok-0123456789\r\n")
    path.chmod(0o600)
    with serving(always(http())) as server:
        search(da.Client(server.base_url, token=da.token_file(path), retry_for=0))
        assert server.requests[0].headers["authorization"] == "Bearer tok-0123456789"
