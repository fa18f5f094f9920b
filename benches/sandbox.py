"""How fast the sandbox is: small searches a second, and rows a second of one large response.

    python benches/sandbox.py [--smoke] [--rows N] [--seconds S] [--out FOLDER]

The service runs in a process of its own; it and the load share the machine. What comes back is checked
while it is timed. `--smoke` does the same with tiny counts: it shows that the bench works, not how fast.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import report
import sandbox_load as load
from report import Measure
from sandbox_server import Server, code

CONNECTIONS = 8
ATTRIBUTES = list(code(0))


def code_search(*conditions: dict[str, Any]) -> bytes:
    """A search of the promotion codes allocated since 2023 that meet some conditions."""
    time = {"column": "allocated_time", "data_type": "datetime", "operator": "after_date", "value": 1_672_531_200_000}
    filters = {"OR": [{"AND": [*conditions, {"type": 2, **time, "time_unit": "DAY"}]}]}
    body = {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ATTRIBUTES, "filters": filters}
    return json.dumps(body).encode()


def codes_of(member: str) -> bytes:
    """A search of the codes that one member holds."""
    audience = {"column": "allocated_audience", "data_type": "string", "operator": "matches", "value": [member]}
    return code_search({"type": 2, **audience, "extendValue": []})


def customer_of(identifier: str) -> bytes:
    """A search of one customer."""
    condition = {
        "column": "customer_id",
        "data_type": "string",
        "operator": "matches",
        "value_type": "normal",
        "value": [identifier],
        "condition_type": "comp_attr",
    }
    filters = {"OR": [{"AND": [condition]}]}
    attrs = ["customer_id", "name"]
    body = {"itemTypeId": -1003, "itemTypeName": "customer", "attrs": attrs, "filters": filters}
    return json.dumps(body).encode()


def exchanges(server: Server, search: Any, key: str) -> list[load.Exchange]:
    """Searches of many customers with their responses, each looked at once before it is timed."""
    found = []
    for number in range(1, 200):
        customer = f"demo-customer-{number:04}"
        body = search(customer)
        answer = b"".join(load.stream(server.base_url, server.token, body))
        envelope = json.loads(answer)
        records = envelope["data"]["data"]
        if envelope["code"] != 200 or any(record[key] != customer for record in records):
            raise SystemExit(f"a wrong answer before the load: {answer[:500]!r}")
        if records:
            found.append(load.Exchange(load.request(server.base_url, server.token, body), answer))
    return found


def small_searches(server: Server, name: str, asked: list[load.Exchange], seconds: float) -> list[Measure]:
    """Searches a second and how long they take, by kept connections that ask without a pause."""
    load.latencies(server.base_url, asked, connections=CONNECTIONS, seconds=seconds / 10)
    started, used = time.perf_counter(), server.processor_seconds()
    taken = load.latencies(server.base_url, asked, connections=CONNECTIONS, seconds=seconds)
    rate = len(taken) / (time.perf_counter() - started)
    used_after = server.processor_seconds()
    percentiles = statistics.quantiles(taken, n=100)
    measures = [
        Measure(f"{name}: searches", rate, "1/s"),
        Measure(f"{name}: half of them within", percentiles[49] * 1000, "ms"),
        Measure(f"{name}: 99 of 100 within", percentiles[98] * 1000, "ms"),
    ]
    if used is not None and used_after is not None:
        each = (used_after - used) / len(taken) * 1_000_000
        measures.append(Measure(f"{name}: processor time of the service for one", each, "µs"))
    return measures


def large_answer(server: Server, rows: int) -> list[Measure]:
    """Rows a second of one response with all rows, and the memory that it takes."""
    body = code_search()
    before = server.memory()
    server.forget_highest()
    mark, count, size, first, last = b'{"id":"', 0, 0, b"", b""
    started = time.perf_counter()
    for piece in load.stream(server.base_url, server.token, body):
        # A mark may be cut by the end of a piece: the last bytes are looked at again with the next.
        seen = last[-len(mark) + 1 :] + piece
        count += seen.count(mark)
        size += len(piece)
        first = first or bytes(piece)
        last = (last + piece)[-4096:]
    seconds = time.perf_counter() - started
    check(first, last, count, rows)
    measures = [
        Measure(f"{rows:,} rows: rows", count / seconds, "1/s"),
        Measure(f"{rows:,} rows: answer", size / 2**20 / seconds, "MB/s"),
    ]
    if before:
        after = server.memory()
        grown = max(after["highest"], after["now"]) - before["now"]
        measures += [
            Measure(f"{rows:,} rows: memory before", before["now"], "MB"),
            Measure(f"{rows:,} rows: memory added at its highest", grown, "MB"),
        ]
    return measures


def check(first: bytes, last: bytes, count: int, rows: int) -> None:
    """The response is whole: its head, its first row, its last row, its end, and the number of rows."""
    head = b'{"code":200,"message":"Search Business Object success","data":{"status":true,"data":['
    expected = [json.dumps(code(number), separators=(",", ":")).encode() for number in (0, rows - 1)]
    if not first.startswith(head + expected[0]):
        raise SystemExit(f"a wrong start of the large answer: {first[:500]!r}")
    if not last.endswith(expected[1] + b"]}}"):
        raise SystemExit(f"a wrong end of the large answer: {last[-500:]!r}")
    if count != rows:
        raise SystemExit(f"{count} rows in the large answer, not {rows}")


def main() -> None:
    """Runs all measures."""
    parser = argparse.ArgumentParser(description="How fast the sandbox is.")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that the bench works")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large answer")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each load lasts")
    parser.add_argument("--out", type=Path, default=Path("target/bench"), help="folder of the JSON")
    options = parser.parse_args()
    rows, seconds = (2_000, 0.2) if options.smoke else (options.rows, options.seconds)
    measures = []
    with Server() as server:
        one = exchanges(server, customer_of, "customer_id")
        several = exchanges(server, codes_of, "allocated_audience")
        measures += small_searches(server, "one customer", one, seconds)
        measures += small_searches(server, "codes of a member", several, seconds)
    with Server(rows) as server:
        measures.append(Measure(f"{rows:,} rows: loaded from dicts in", server.load_seconds, "s"))
        measures += large_answer(server, rows)
    print(f"wrote {report.write('sandbox', measures, options.out, smoke=options.smoke)}")


if __name__ == "__main__":
    main()
