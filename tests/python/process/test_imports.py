"""What is loaded until the first row: little, as scripts and functions in a cloud pay for it at each start."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dataaccess as da

CLIENT = """
    dataaccess dataaccess._client dataaccess._client.base dataaccess._client.client
    dataaccess._client.profiles dataaccess._client.resolve dataaccess._client.segment dataaccess._client.settings
    dataaccess._contract dataaccess._core dataaccess._core.checks dataaccess._core.embedded dataaccess._core.host
    dataaccess._core.log dataaccess._core.paths dataaccess._core.progress dataaccess._core.secret dataaccess._core.warn
    dataaccess._display dataaccess._display.column_types dataaccess._display.grid dataaccess._display.text
    dataaccess._native dataaccess._public dataaccess._scan dataaccess._scan.outcome dataaccess._scan.schema
    dataaccess.errors dataaccess.filters dataaccess.filters._conditions dataaccess.filters._parse
    dataaccess.filters._values
"""
SCAN = f"""
    {CLIENT} dataaccess._scan.base dataaccess._scan.batches dataaccess._scan.doubts dataaccess._scan.files
    dataaccess._scan.folder dataaccess._scan.frames dataaccess._scan.interrupt dataaccess._scan.rows
    dataaccess._scan.scan dataaccess._scan.table
"""
# Standard modules, with all that these load in turn.
CLIENT_STANDARD = """
    __future__ ast atexit collections.abc copy dataclasses datetime functools importlib math numbers re reprlib
    threading typing warnings
"""
SCAN_STANDARD = f"{CLIENT_STANDARD} contextlib signal"

SHOW = "; import sys; print(*sys.modules)"
SEARCHES = (
    "import warnings; warnings.simplefilter('ignore'); "
    "rows = da.Client({!r}, token={!r}, timezone='UTC').search_codes(allocated_time=da.on('2024-01-15')); assert rows"
)
SCANS = (
    "import warnings; warnings.simplefilter('ignore'); "
    "scan = da.Client({!r}, token={!r}, timezone='UTC').scan_codes(allocated_time=da.on('2024-01-15')); "
    "assert next(scan.batches())"
)
ADVICE = (
    "other modules are loaded: import what only some calls need inside the function, and what annotations need "
    "under TYPE_CHECKING; if all calls need it, measure what it costs and change this list"
)


def loaded(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-Ic", code + SHOW], capture_output=True, check=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "own", "standard"),
    [
        ("", "dataaccess", "importlib"),
        ("da.Client", CLIENT, CLIENT_STANDARD),
        (SEARCHES, CLIENT, CLIENT_STANDARD),
        (SCANS, SCAN, SCAN_STANDARD),
    ],
    ids=["import", "client", "search", "scan"],
)
def test_until_the_first_row_these_modules_only_are_loaded(
    sandbox: da.Sandbox, code: str, own: str, standard: str
) -> None:
    path = f"import sys; sys.path[:0] = {sys.path!r}; "
    code = code.format(sandbox.base_url, sandbox.issue_token())
    found = loaded(f"{path}import dataaccess as da; {code or 'pass'}")
    expected = loaded(f"{path}import {', '.join(standard.split())}") | set(own.split())
    assert (sorted(found - expected), sorted(expected - found)) == ([], []), ADVICE
