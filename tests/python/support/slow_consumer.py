"""A consumer in its own process that reads one batch of a large response and pauses, and what that costs both ends."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from support.raw_server import Close, serving
from support.streams import CLOSING, HEAD, OPENING

MEBIBYTE = 2**20
FILLER = "x" * 1_000
# Records of a part, and rows of a batch.
PART = 1_000

CONSUMER = """
import asyncio, json, re, sys
from pathlib import Path
import dataaccess as da

address, kind, filler, part = *sys.argv[1:4], int(sys.argv[4])

# VmRSS is what is in memory now, VmHWM the most of it ever.
def memory(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

def scan_of(client):
    return client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)

rows = 0

def take(batch):
    global rows
    for row in batch.to_pylist():
        assert row == {"n": rows, "text": f"{rows} {filler}"}, row
        rows += 1

def rest():
    before = memory("VmRSS")
    print("resting", flush=True)
    sys.stdin.readline()
    return memory("VmRSS") - before

# The time of a call ends with its first row: the rest is the consumer's own.
OPTIONS = {"token": "tok", "timeout": 20, "retry_for": 0}
if kind == "sync":
    batches = scan_of(da.Client(address, **OPTIONS)).batches(max_rows=part)
    take(next(batches))
    before, grown = memory("VmHWM"), rest()
    for batch in batches:
        take(batch)
else:
    async def main():
        batches = scan_of(da.AsyncClient(address, **OPTIONS)).batches(max_rows=part)
        take(await anext(batches))
        before, grown = memory("VmHWM"), rest()
        async for batch in batches:
            take(batch)
        return before, grown
    before, grown = asyncio.run(main())
print(json.dumps({"rows": rows, "grown_while_resting": grown, "grown": memory("VmHWM") - before}))
"""


@dataclass(frozen=True)
class Rested:
    # Bytes that the server could send until its window was full, and until the rest was over.
    sent_before: int
    sent_after: int
    # Those that were right and in their order.
    rows: int
    # Bytes of memory of the consumer, in its rest and from its first batch to its last.
    grown_while_resting: int
    grown: int


def parts(size: int) -> Iterator[bytes]:
    """Numbered records of at least so many bytes in all, part by part."""
    made, start = 0, 0
    while made < size:
        records = ",".join(f'{{"n":{n},"text":"{n} {FILLER}"}}' for n in range(start, start + PART))
        part = ("," if start else "").encode() + records.encode()
        yield part
        made += len(part)
        start += PART


def rest(kind: str, size: int, seconds: float) -> tuple[Rested, int]:
    """Lets a consumer pause for so long within a response of so many bytes. Returns the number of records."""
    sent, records = 0, 0
    connections: list[Any] = []

    def respond(connection: Any, _number: int) -> None:
        nonlocal sent, records
        connections.append(connection)
        connection.sendall(HEAD + OPENING)
        for part in parts(size):
            connection.sendall(part)
            sent += len(part)
            records += PART
        connection.sendall(CLOSING)
        raise Close

    def is_full() -> bool:
        return select.select([], connections, [], 0)[1] == []

    with serving(respond) as server:
        command = [sys.executable, "-c", CONSUMER, server.base_url, kind, FILLER, str(PART)]
        consumer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with consumer:
            assert consumer.stdout is not None
            assert consumer.stdout.readline() == "resting\n"
            before = -1
            while before < sent or not is_full():
                before = sent
                time.sleep(0.5)
            time.sleep(seconds)
            assert is_full()
            after = sent
            reported, _ = consumer.communicate("go on\n")
        assert len(server.requests) == 1
    assert consumer.returncode == 0
    return Rested(sent_before=before, sent_after=after, **json.loads(reported)), records
