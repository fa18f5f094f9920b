"""A second interpreter in the process: refused with an `ImportError`, and nothing is harmed."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

NAMES = ("_interpreters", "_xxsubinterpreters")
CODE = """
import importlib, os, sys, warnings
warnings.simplefilter("ignore")
import dataaccess as da
client = da.Client("sandbox:demo?until=2024-02-29")
assert client.download_segment(5637051)["code"] == 200
interpreters = importlib.import_module(sys.argv[1])
reader, writer = os.pipe()
code = '''
import os
try:
    import dataaccess
    dataaccess.Client
    outcome = "imported"
except ImportError as error:
    outcome = "ImportError: " + str(error)
os.write({}, outcome.encode())
'''.format(writer)
interpreter = interpreters.create()
interpreters.run_string(interpreter, code)
interpreters.destroy(interpreter)
print(os.read(reader, 1000).decode())
assert client.download_segment(5637051)["code"] == 200
"""


@pytest.mark.fault("P9")
def test_another_interpreter_is_refused_and_harms_nothing() -> None:
    found = [name for name in NAMES if importlib.util.find_spec(name)]
    if not found:
        pytest.skip("this Python has one interpreter")
    done = subprocess.run(
        [sys.executable, "-c", CODE, found[0]], capture_output=True, check=False, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ImportError: ")
    assert "interpreter" in done.stdout
