"""A host that the HTTP library does not take is refused when the client is made.

Source: a trial of nightly jobs (a template that nobody filled in: 28 attempts in 60 s, and nothing was sent).
"""

from __future__ import annotations

import pytest

import dataaccess as da

REFUSED = ["{tenant}", "$TENANT", "*", "cdp.", "-cdp", "cdp_.example.com-", "a" * 64, "cdp!", "cdp'", '"cdp"', "(cdp)"]
TAKEN = ["cdp.example.com.", "my_service", "münchen.example", "10.0.0.1", "[fd00::1]", "a.b-c.d"]


@pytest.mark.parametrize("host", REFUSED)
@pytest.mark.parametrize("scheme", ["https", "http"])
def test_it_is_refused(scheme: str, host: str) -> None:
    host = host if host.endswith("-") else f"{host}.example.com"
    with pytest.raises(da.ConfigError):
        da.Client(f"{scheme}://{host}", token="tok", allow_http=True)


@pytest.mark.parametrize("host", TAKEN)
def test_every_other_host_is_taken(host: str) -> None:
    da.Client(f"https://{host}:8443/base", token="tok")
