"""Settings of clients and their tokens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.certificates import context
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da

# Each certificate of a CA file is read, with a byte order mark or glued to the one before, or named by its line.
# Source: pyca/cryptography and OpenSSL read such files; RFC 7468, section 2 (text before a boundary is ignored).

FIRST, SECOND = trustme.CA(), trustme.CA()
ONE, TWO = FIRST.cert_pem.bytes(), SECOND.cert_pem.bytes()
FORMS = {
    "a byte order mark": b"\xef\xbb\xbf" + ONE + TWO,
    "glued": ONE.strip() + TWO,
    "in Windows lines": (ONE + TWO).replace(b"\n", b"\r\n"),
    "with text around": b"Subject: C=\xff\n" + ONE + b"# the other: " + TWO,
    "with a key between": ONE + FIRST.private_key_pem.bytes() + TWO,
}
BROKEN = {
    "cut off": b"-----BEGIN CERTIFICATE-----\nMIIB\n",
    "no base64": b"-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n",
    "no certificate": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "of OpenSSL": b"-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_both_certificates_of_a_bundle_are_trusted(tmp_path: Path, form: str) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(FORMS[form])
    for authority in (FIRST, SECOND):
        with serving(always(http()), context(authority.issue_cert("localhost"))) as server:
            assert search(da.Client(server.base_url, token="tok", ca_bundle=path, retry_for=0))


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(("before", "line"), [(b"", 1), (ONE, ONE.count(b"\n") + 1)])
def test_an_unreadable_certificate_is_named_by_its_line(tmp_path: Path, broken: str, before: bytes, line: int) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(before + BROKEN[broken] + ONE)
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="tok", ca_bundle=path)
    assert str(path) in str(caught.value)
    assert f"line {line} " in str(caught.value)


# A host that the HTTP library does not take is refused when the client is made.
# Source: a trial of nightly jobs (a template that nobody filled in: 28 attempts in 60 s, and nothing was sent).

REFUSED = ["{tenant}", "$TENANT", "*", "cdp.", "-cdp", "cdp_.example.com-", "a" * 64, "cdp!", "cdp'", '"cdp"', "(cdp)"]
TAKEN = ["cdp.example.com.", "my_service", "münchen.example", "10.0.0.1", "[fd00::1]", "a.b-c.d"]


@pytest.mark.parametrize("host", REFUSED)
@pytest.mark.parametrize("scheme", ["https", "http"])
def test_a_host_that_no_request_can_have_is_refused(scheme: str, host: str) -> None:
    host = host if host.endswith("-") else f"{host}.example.com"
    with pytest.raises(da.ConfigError):
        da.Client(f"{scheme}://{host}", token="tok", allow_http=True)


@pytest.mark.parametrize("host", TAKEN)
def test_every_other_host_is_taken(host: str) -> None:
    da.Client(f"https://{host}:8443/base", token="tok")


# No spelling of this machine goes through a proxy of the environment, and plain HTTP to an unusual one is refused.
# Source: RFC 6761, section 6.3 (`localhost.` and names below it are loopback).

REACHED = ["localhost", "LOCALHOST", "127.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"]
OTHERS = ["localhost.", "foo.localhost", "a.b.LocalHost.", "[::]", "[::ffff:0.0.0.0]"]


@pytest.mark.parametrize("host", [*REACHED, *OTHERS])
def test_no_proxy_sees_a_request_to_this_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    with serving(always(http())) as server, serving(always(http(b"", "400 Bad"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        client: Any = da.Client(f"http://{host}:{server.port}", token="tok", allow_http=True, retry_for=0)
        try:
            assert search(client)
        except da.TransportError:
            # Not each system resolves these.
            assert host in OTHERS
        assert proxy.requests == []


@pytest.mark.parametrize("host", ["foo.localhost", "[::]", "[::ffff:127.0.0.1]"])
def test_plain_http_to_this_machine_must_still_be_allowed(host: str) -> None:
    with pytest.raises(da.ConfigError):
        da.Client(f"http://{host}:9", token="tok")


# A token file that an editor began with a byte order mark is read.
# Source: RFC 3629, section 6; Notepad and PowerShell write one.


def test_a_byte_order_mark_is_not_a_part_of_the_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"\xef\xbb\xbftok-0123456789\r\n")
    path.chmod(0o600)
    with serving(always(http())) as server:
        search(da.Client(server.base_url, token=da.token_file(path), retry_for=0))
        assert server.requests[0].headers["authorization"] == "Bearer tok-0123456789"


# A token file that is empty or missing for a moment, as it is rewritten in place, is read again.
# Source: a trial of nightly jobs.


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "token").touch(0o600)
    return tmp_path / "token"


@pytest.mark.parametrize("is_used", [False, True])
def test_a_token_file_that_is_empty_or_missing_for_a_moment(file: Path, sandbox: da.Sandbox, is_used: bool) -> None:
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
def test_a_token_file_stays_so(file: Path, sandbox: da.Sandbox, exists: bool, retryable: bool, exit_code: int) -> None:
    if not exists:
        file.unlink()
    with pytest.raises(da.ConfigError) as caught:
        search(da.Client(sandbox.base_url, token=da.token_file(file), retry_for=3))
    assert (caught.value.retryable, caught.value.exit_code) == (retryable, exit_code)


# A sandbox that another process serves is recognized: `is_sandbox` is True after a response, one `SandboxWarning`.
# Source: a trial of notebooks.

SERVED = """
import dataaccess as da, json, sys
with da.Sandbox.demo(until="2024-02-29") as sandbox:
    print(json.dumps([sandbox.base_url, sandbox.issue_token(), sandbox.start_export()]), flush=True)
    sys.stdin.read()
"""
DAY = da.on("2024-01-15")
USES: dict[str, Any] = {
    "search": lambda client, _: client.search_codes(["id"], allocated_time=DAY),
    "dicts": lambda client, _: client.scan_codes(["id"], allocated_time=DAY).to_dicts(),
    "table": lambda client, _: client.scan_codes(["id"], allocated_time=DAY).collect(),
    "batches": lambda client, _: list(client.scan_codes(["id"], allocated_time=DAY).batches()),
    "segment": lambda client, export: client.download_segment(export),
    "check": lambda client, _: client.check(),
}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str, int]]:
    # Its port may be that of a sandbox that this process had before.
    monkeypatch.setattr("dataaccess._core.embedded._known", set())
    with subprocess.Popen([sys.executable, "-c", SERVED], stdin=-1, stdout=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url, token, export = json.loads(process.stdout.readline())
        yield url, token, export
        process.stdin.close()


@pytest.mark.parametrize("use", USES)
def test_a_sandbox_of_another_process_warns_once(served: tuple[str, str, int], use: str) -> None:
    url, token, export = served
    client = da.Client(url, token=token)
    with pytest.warns(da.SandboxWarning, match=url):
        USES[use](client, export)
    assert client.is_sandbox
    with warnings.catch_warnings():
        warnings.simplefilter("error", da.SandboxWarning)
        for again in USES.values():
            again(da.Client(url, token=token), export)
    assert client.check().is_sandbox


def test_a_platform_is_no_sandbox(client_of: Any) -> None:
    client = client_of([{"id": "a"}])
    client.search_codes(["id"], allocated_time=DAY)
    assert not client.is_sandbox


# `dir(da)` shows every name that README and the pages use, warnings among them.
# Source: a trial of notebooks

ROOT = Path(__file__).parents[2]


def test_tab_completion_shows_what_pages_use() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    used = {name for page in pages for name in re.findall(r"\bda\.([A-Za-z_]+)", page.read_text(encoding="utf-8"))}
    assert used - {"__version__"} <= set(dir(da))
    assert {name for name in da.errors.__all__ if name.endswith("Warning")} - set(dir(da)) == set()
