"""A call in a process of its own: what it gives, and by how much its memory grows."""

from __future__ import annotations

import subprocess
import sys

MIB = 2**20

PROGRAM = """
import re, sys, tempfile
from pathlib import Path
import dataaccess as da

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

address, proxy, limit, call = sys.argv[1:]
client = da.Client(
    address, token="tok", proxy=proxy or None, timezone="UTC", retry_for=0, timeout=20, max_result_bytes=int(limit)
)
attrs = [f"a{number}" for number in range(1000)]
notes = client.scan_items("note", attrs, item_type_id=9, schema=dict.fromkeys(attrs, "int64"))
customers = client.scan_items("customer", ["id"], da.col("x").equals("1"))
search = lambda: client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
file = tempfile.mkdtemp() + "/rows"
before, outcome = peak(), "done"
try:
    eval(call)
except da.ResponseError as error:
    outcome = f"{error.reason} {error.field} {error.limit}"
except da.DataAccessError as error:
    outcome = type(error).__name__
print(outcome, peak() - before, sep=";")
"""


def grown(address: str, call: str, limit: int = 2**40, proxy: str = "") -> tuple[str, int]:
    """The outcome of a call, and by how many MiB the memory grew."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, address, proxy, str(limit), call]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    outcome, growth = done.stdout.strip().split(";")
    return outcome, int(growth)
