r"""A CA bundle that holds a private key on one line is refused by file and line, without a byte of the key.

Source: a security review (secrets pasted into Kubernetes with a literal `\n` in place of line breaks).
"""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest
import trustme

import dataaccess as da

# The folder of the package: a checkout may have its name too.
PACKAGE = str(Path(da.__file__).parent)


def shown(error: BaseException) -> str:
    """Everything a log, a traceback with locals or a pickle would hold."""
    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = "".join(repr(frame.locals) for frame in frames.stack if frame.filename.startswith(PACKAGE))
    assert ours
    return (
        f"{error} {error!r} {error.__dict__} {error.__cause__!r} {error.__context__!r} {ours} {pickle.dumps(error)!r}"
    )


@pytest.mark.parametrize("source", ["ca_bundle", "DATAACCESS_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
@pytest.mark.parametrize("label", ["PRIVATE KEY", "CERTIFICATE"])
def test_a_key_on_a_line_of_its_own_is_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, label: str
) -> None:
    key = trustme.CA().issue_cert("localhost").private_key_pem.bytes().decode().splitlines()[1]
    path = tmp_path / "ca.pem"
    path.write_text(f"-----BEGIN {label}-----\\n{key}\\n-----END {label}-----")
    options: dict[str, Any] = {"ca_bundle": path} if source == "ca_bundle" else {}
    if not options:
        monkeypatch.setenv(source, str(path))
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="tok", **options)
    text = shown(caught.value)
    assert str(path) in text
    assert key[:12] not in text
    assert ", ".join(str(byte) for byte in key[:12].encode()) not in text
