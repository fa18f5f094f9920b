"""`TimezoneWarning`, once a process: a platform gets days, and nobody said which zone they are of.

Source: API specification 2.4: the zone of DAY is not shown. A trial of nightly jobs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da

PROGRAM = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor
import dataaccess as da
address, call, arguments = sys.argv[1], sys.argv[2], eval(sys.argv[3])
def client():
    return da.Client("sandbox:demo") if address == "sandbox" else da.Client(address, **{"token": "t", **arguments})
day = da.on("2024-01-15")
calls = {
    "search": lambda: client().search_codes(["id"], allocated_time=day),
    "threads": lambda: list(ThreadPoolExecutor(8).map(lambda _: calls["search"](), range(64))),
    "scan": lambda: client().scan_codes(["id"], allocated_time=day).to_dicts(),
    "unused scan": lambda: client().scan_codes(["id"], allocated_time=day),
    "items": lambda: client().search_items("customer", iter(["name"]), da.col("opened").on("2024-01-15")),
    "items scan": lambda: client().scan_items("customer", ["name"], da.col("opened").since("2024-01-15")).to_dicts(),
    "without days": lambda: client().search_items("customer", ["name"], da.col("name").equals("x")),
}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        calls[call]()
print(sum(issubclass(one.category, da.TimezoneWarning) for one in caught))
"""


def warnings_of(call: str, arguments: str = "{}", *, address: str | None = None, **environment: str) -> int:
    with serving(always(http(RESPONSE))) as server:
        words = [sys.executable, "-c", PROGRAM, address or server.base_url, call, arguments]
        variables = {**os.environ, **environment}
        done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("call", ["search", "threads", "scan", "items", "items scan"])
def test_once_a_process(call: str) -> None:
    assert warnings_of(call) == 1


def test_not_without_days() -> None:
    assert warnings_of("without days") == 0


def test_not_before_days_are_sent() -> None:
    assert warnings_of("unused scan") == 0


def test_not_of_the_sandbox() -> None:
    assert warnings_of("search", address="sandbox") == 0


@pytest.mark.parametrize("call", ["search", "scan"])
def test_not_of_a_sandbox_of_another_process(call: str) -> None:
    with da.Sandbox.demo(until="2024-02-29") as served:
        arguments = repr({"token": served.issue_token()})
        assert warnings_of(call, arguments, address=served.base_url) == 0


def test_an_argument_silences_it() -> None:
    assert warnings_of("search", '{"timezone": "UTC"}') == 0


def test_a_variable_silences_it() -> None:
    assert warnings_of("search", DATAACCESS_TIMEZONE="UTC") == 0


def test_a_profile_silences_it(tmp_path: Path) -> None:
    (tmp_path / "dataaccess").mkdir()
    (tmp_path / "dataaccess" / "config.toml").write_text('[profiles.staging]\ntimezone = "UTC"\n')
    assert warnings_of("search", '{"profile": "staging"}', XDG_CONFIG_HOME=str(tmp_path)) == 0
