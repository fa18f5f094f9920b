"""`TimezoneWarning`, once a process: a platform gets days, and nobody said which zone they are of.

Source: API specification 2.4: the zone of DAY is not shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

PROGRAM = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor
import dataaccess as da
address, call, arguments = sys.argv[1], sys.argv[2], eval(sys.argv[3])
def client():
    return da.Client("sandbox:demo") if address == "sandbox" else da.Client(address, **{"token": "t", **arguments})
day, opened = da.on("2024-01-15"), da.col("opened")
calls = {
    "search": lambda: client().search_codes(["id"], allocated_time=day),
    "threads": lambda: list(ThreadPoolExecutor(8).map(lambda _: calls["search"](), range(64))),
    "scan": lambda: client().scan_codes(["id"], allocated_time=day).to_dicts(),
    "unused scan": lambda: client().scan_codes(["id"], allocated_time=day),
    "items": lambda: client().search_items("customer", iter(["name"]), opened.on("2024-01-15")),
    "items scan": lambda: client().scan_items("customer", ["name"], opened.since("2024-01-15")).to_dicts(),
    "without days": lambda: client().search_items("customer", ["name"], da.col("name").equals("x")),
}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        calls[call]()
print(sum(issubclass(one.category, da.TimezoneWarning) for one in caught))
"""


def warnings_of(call: str, arguments: str = "{}", address: str | None = None, **environment: str) -> int:
    with serving(always(http())) as server:
        words = [sys.executable, "-c", PROGRAM, address or server.base_url, call, arguments]
        done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, check=True, timeout=30)
    return int(done.stdout)


@pytest.mark.parametrize("call", ["search", "threads", "scan", "items", "items scan", "unused scan", "without days"])
def test_days_that_are_sent_warn_once_a_process(call: str) -> None:
    assert warnings_of(call) == (call not in ("unused scan", "without days"))


@pytest.mark.parametrize("call", ["search", "scan"])
def test_a_sandbox_of_this_or_another_process_does_not(call: str) -> None:
    assert warnings_of(call, address="sandbox") == 0
    with da.Sandbox.demo(until="2024-02-29") as served:
        assert warnings_of(call, repr({"token": served.issue_token()}), served.base_url) == 0


def test_an_argument_a_variable_or_a_profile_silences_it(tmp_path: Path) -> None:
    (tmp_path / "dataaccess").mkdir()
    (tmp_path / "dataaccess" / "config.toml").write_text('[profiles.staging]\ntimezone = "UTC"\n')
    assert warnings_of("search", '{"timezone": "UTC"}') == 0
    assert warnings_of("search", DATAACCESS_TIMEZONE="UTC") == 0
    assert warnings_of("search", '{"profile": "staging"}', XDG_CONFIG_HOME=str(tmp_path)) == 0
