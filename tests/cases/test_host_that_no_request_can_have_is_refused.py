"""A host that the HTTP library does not take is refused when the client is made.

Source: a trial of nightly jobs (a template that nobody filled in: 28 attempts in 60 s, and nothing was sent).
"""

from __future__ import annotations

import pytest

import dataaccess as da

HOSTS = [
    "{tenant}.example.com",
    "$TENANT.example.com",
    "*.example.com",
    "cdp..example.com",
    "-cdp.example.com",
    "cdp_.example.com-",
    f"{'a' * 64}.example.com",
    "cdp!.example.com",
    "cdp.example.com'",
    '"cdp.example.com"',
    "(cdp).example.com",
]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("scheme", ["https", "http"])
def test_it_is_refused(scheme: str, host: str) -> None:
    with pytest.raises(da.ConfigError):
        da.Client(f"{scheme}://{host}", token="tok", allow_http=True)


OTHERS = ["cdp.example.com.", "my_service", "münchen.example", "10.0.0.1", "[fd00::1]", "a.b-c.d"]


@pytest.mark.parametrize("host", OTHERS)
def test_every_other_host_is_taken(host: str) -> None:
    da.Client(f"https://{host}:8443/base", token="tok")
