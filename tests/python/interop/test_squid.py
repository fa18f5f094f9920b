"""squid as the proxy: tunnels, passwords, refusals, names that only it knows."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from support import kinds
from support.certificates import context
from support.programs import found, free_port, running
from support.raw_server import RawServer, always, http, serving
from support.searches import search

import dataaccess as da

CONFIGURATION = """
http_port 127.0.0.1:{port}
pid_filename none
cache_log {folder}/cache.log
access_log none
cache deny all
shutdown_lifetime 0 seconds
netdb_filename none
coredump_dir {folder}
hosts_file {folder}/hosts
dns_nameservers 127.0.0.1
connect_timeout 2 seconds
connect_retries 0
visible_hostname squid.test
auth_param basic program {folder}/check
acl known proxy_auth REQUIRED
acl forbidden dstdomain forbidden.test
http_access deny forbidden
http_access allow known
http_access deny all
"""

CHECK = """#!/bin/sh
while read -r user password; do
    case "$user $password" in "robot hunter2@" | "robot hunter2%40") echo OK ;; *) echo ERR ;; esac
done
"""

ROWS = [{"id": "a"}, {"id": "b"}]


@pytest.fixture
def proxy() -> Iterator[str]:
    """Its address without a password."""
    program = found("squid")
    port = free_port()
    # Started by root it becomes another user, who cannot read the folders of pytest.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        configuration = folder / "squid.conf"
        configuration.write_text(CONFIGURATION.format(port=port, folder=folder))
        (folder / "hosts").write_text("127.0.0.1 service.test dead.test forbidden.test\n")
        (folder / "check").write_text(CHECK)
        (folder / "check").chmod(0o755)
        with running(folder, port, program, "-N", "-f", str(configuration)):
            yield f"127.0.0.1:{port}"


@pytest.fixture
def service(authority: trustme.CA) -> Iterator[RawServer]:
    with serving(always(http()), context(authority.issue_cert("service.test"))) as server:
        yield server


@pytest.mark.slow
def test_a_tunnel_leads_to_a_name_that_only_the_proxy_knows(
    connect: Any, proxy: str, service: RawServer, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"https://service.test:{service.port}"
    given = {"proxy": f"http://robot:hunter2%40@{proxy}", "ca_bundle": bundle}
    client = connect(address, **given)
    assert [search(client) for _ in range(3)] == [ROWS] * 3
    assert service.connections == 1
    monkeypatch.setenv("HTTPS_PROXY", f"robot:hunter2%40@{proxy}")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(bundle))
    assert search(connect(address)) == ROWS
    monkeypatch.setenv("NO_PROXY", ".test")
    with pytest.raises(da.ConnectError) as caught:
        search(connect(address, retry_for=0))
    assert caught.value.phase == "dns"


# The host, a user of the proxy, and the status and the attempts of the error.
REFUSALS = [
    ("service.test", "", 407, 1),
    ("service.test", "robot:wrong@", 407, 1),
    ("forbidden.test", "robot:hunter2%40@", 403, 1),
    ("dead.test", "robot:hunter2%40@", 503, 2),
]


@pytest.mark.slow
@pytest.mark.parametrize("refusal", REFUSALS)
def test_its_refusals_are_reported_as_its_own(
    connect: Any, proxy: str, bundle: Path, monkeypatch: pytest.MonkeyPatch, refusal: tuple[str, str, int, int]
) -> None:
    host, user, status, attempts = refusal
    monkeypatch.setenv("HTTPS_PROXY", f"http://{user}{proxy}")
    with pytest.raises(kinds.Proxy) as caught:
        search(connect(f"https://{host}:{free_port()}", retry_for=0.2, ca_bundle=bundle))
    error = caught.value
    assert (error.status, error.attempts) == (status, attempts), str(error)
    assert re.search(rf" {re.escape(proxy)} \(HTTPS_PROXY\) .* {re.escape(host)}:\d", str(error)), str(error)
    assert "hunter2" not in str(error) + repr(error.history)
