"""How much the benches of the client do: as much as the figures need, or just enough to see that they work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Rows of the responses, and how often things are done."""

    rows: int = 1_000_000
    fewer_rows: int = 100_000
    growth: tuple[int, ...] = (10_000, 100_000, 1_000_000, 10_000_000)
    rounds: int = 5
    calls: int = 800
    call_rounds: int = 15
    starts: int = 15
    shape_rows: int = 300_000
    # Of races in which others take seconds a round.
    slow_rounds: int = 3
    # Of the runs that are counted, the shorter: by hardware counters, and by Callgrind, which is 50 times slower.
    counted_calls: int = 1_600
    callgrind_rows: int = 20_000
    callgrind_calls: int = 320
    # Those that are counted; all if none is named.
    counted_jobs: tuple[str, ...] = ()
    may_count_slowly: bool = True


SMOKE = Scale(
    rows=2_000,
    fewer_rows=500,
    growth=(1_000, 2_000),
    rounds=1,
    calls=32,
    call_rounds=1,
    starts=1,
    shape_rows=1_000,
    slow_rounds=1,
    counted_calls=16,
    callgrind_calls=16,
    callgrind_rows=100,
    counted_jobs=("search_codes",),
    may_count_slowly=False,
)
