"""What our client costs in instructions, cycles and context switches, which the load of a machine does not move."""

from __future__ import annotations

import counters
from counters import CALL_JOBS, ROW_JOBS
from prebuilt_server import PrebuiltServer
from report import Measure
from scale import Scale


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Per row and per call; what the machine cannot count is said to be missing."""
    quick = counters.has_perf()
    # Callgrind takes a minute to import pandas.
    row_jobs = ROW_JOBS if quick else ROW_JOBS[:-1]
    rows, calls = (scale.rows, scale.counted_calls) if quick else (scale.callgrind_rows, scale.callgrind_calls)
    work = {job: counters.client_work(job, server.url(str(rows)), 1, 3, rows) for job in row_jobs}
    work |= {job: counters.client_work(job, server.url("1"), calls, 3 * calls) for job in CALL_JOBS}
    measures = []
    for job in scale.counted_jobs or work:
        counters.run(work[job].less)  # the first run of all compiles the bytecode
        costs = counters.count(work[job], slowly=scale.may_count_slowly)
        if job in row_jobs:
            # A row's share of a few switches says nothing.
            del costs["context switches"]
        unit = "a row" if job in row_jobs else "a call"
        measures += [Measure(f"instructions: {job}: {name}", cost, unit) for name, cost in costs.items()]
    if not quick:
        print("  kernel instructions and cycles, and all of pandas, are missing: perf has no hardware counters here")
    return measures
