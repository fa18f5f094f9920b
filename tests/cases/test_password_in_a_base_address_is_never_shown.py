"""A password in a base address is refused and not shown, however its `@` is written.

Source: a security review; WHATWG URL, section 4.4 (a host with a full-width `@` is read as one with `@`).
"""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import dataaccess as da

# The folder of the package: a checkout may have its name too.
PACKAGE = str(Path(da.__file__).parent)

ADDRESSES = [
    "https://user:hunter2@cdp.example.com",
    "https://user:hunter2%40cdp.example.com",
    "https://user:hunter2\uff20cdp.example.com",
    "https://user:hunter2\ufe6bcdp.example.com",
    "https://user:hunter2%EF%BC%A0cdp.example.com",
    "https://hunter2%40cdp.example.com",
    "https://hunter2\uff20cdp.example.com",
    "https://hunter2%EF%BC%A0cdp.example.com",
    "https://cdp.example.com:hunter2",
    "https://cdp.example.com:12hunter2/x",
    "cdp.example.com:hunter2",
    "user:hunter2%40cdp.example.com",
]


@pytest.mark.parametrize("how", ["argument", "variable"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_it_is_refused_without_the_password(monkeypatch: pytest.MonkeyPatch, how: str, address: str) -> None:
    if how == "variable":
        monkeypatch.setenv("DATAACCESS_BASE_URL", address)
    with pytest.raises(da.ConfigError) as caught:
        da.Client(address if how == "argument" else None, token="tok")
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = "".join(repr(frame.locals) for frame in frames.stack if frame.filename.startswith(PACKAGE))
    assert ours
    assert "hunter2" not in f"{caught.value} {caught.value.__dict__} {ours}"
