"""A proxy address with a path, query or fragment is refused when the client is made, and none of it is shown.

Source: psf/requests and curl read the part behind `#`, `?` or `/` of a raw password as the rest of the URL (RFC 3986,
section 3.2: these characters end the authority); a security review.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

ADDRESSES = [
    "http://robot:hun@ter2#x@proxy.invalid:3128",
    "http://robot:hun@ter2/x@proxy.invalid:3128",
    "http://robot:hun@ter2?x@proxy.invalid:3128",
    "http://robot:12/ter2@proxy.invalid:3128",
    "http://robot:12?ter2@proxy.invalid:3128",
    "http://robot:12#ter2@proxy.invalid:3128",
    "http://robot:ter2/x@proxy.invalid:3128",
    "http://proxy.invalid:3128/ter2",
    "http://proxy.invalid:3128/?ter2",
    "http://{ter2}.invalid:3128",
]


@pytest.mark.parametrize("how", ["proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "profile"])
@pytest.mark.parametrize("address", ADDRESSES, ids=range(len(ADDRESSES)))
def test_it_is_refused_unquoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, address: str) -> None:
    options: dict[str, Any] = {}
    if how == "proxy":
        options = {"proxy": address}
    elif how == "profile":
        path = tmp_path / "dataaccess" / "config.toml"
        path.parent.mkdir()
        path.write_text(f'[profiles.default]\nproxy = "{address}"\n')
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        options = {"profile": "default"}
    else:
        monkeypatch.setenv(how, address)
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="tok", **options)
    text = str(caught.value)
    assert "ter2" not in text
    assert "robot" not in text
    assert all(code in text for code in ("%23", "%2F", "%3F", "%40"))


@pytest.mark.parametrize("address", ["http://proxy.invalid:3128", "http://u:p%2F%23@proxy.invalid:3128/"])
def test_a_slash_at_the_end_is_fine(address: str) -> None:
    da.Client("https://cdp.example.com", token="tok", proxy=address)
