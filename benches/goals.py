"""What the figures should reach. A goal belongs to the measure of its name; all others are only reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """What a measure should reach: at least, or at most where less is better."""

    reach: float
    less_is_better: bool = False

    def is_reached(self, value: float) -> bool:
        """Whether a figure is as good as hoped."""
        return value <= self.reach if self.less_is_better else value >= self.reach

    def __str__(self) -> str:
        """The goal in words."""
        return f"{'at most' if self.less_is_better else 'at least'} {self.reach:,}"


def at_least(reach: float) -> Goal:
    """More is better."""
    return Goal(reach)


def at_most(reach: float) -> Goal:
    """Less is better."""
    return Goal(reach, less_is_better=True)


WIRE = "1,000,000 rows over the wire"
BEST = "the best other over dataaccess"
MILLION = "1,000,000 rows to"
SHAPES = ("escapes", "spaces", "shuffled", "omitted")
DECODED_SHAPES = (
    "Contract",
    "Unicode",
    "Spaced",
    "Indented",
    "Omitted",
    "Shuffled",
    "Disordered",
    "Escapes",
    "Escaped",
    "Extras",
    "Floats",
    "Nested",
    "Repeated",
)

GOALS = {
    f"{WIRE}: to nowhere over recv": at_most(2.2),
    f"{WIRE}: to pyarrow over recv": at_most(2.5),
    f"{WIRE}: to pandas over recv": at_most(2.8),
    "instructions: stream: user instructions": at_most(1_200),
    "instructions: dicts: user instructions": at_most(5_500),
    f"{MILLION} pandas: requests over dataaccess": at_least(28),
    f"{MILLION} pandas: {BEST}": at_least(20),
    f"{MILLION} polars: {BEST}": at_least(12),
    f"{MILLION} pyarrow: {BEST}": at_least(18),
    **{f"300,000 rows with {shape}: to nowhere over recv": at_most(3) for shape in SHAPES},
    **{f"300,000 rows with {shape} to dicts: urllib3+msgspec over dataaccess": at_least(1.3) for shape in SHAPES},
    f"{MILLION} dicts on one core: urllib3+msgspec over dataaccess": at_least(1.35),
    f"{MILLION} dicts on two cores: urllib3+msgspec over dataaccess": at_least(1.6),
    f"{MILLION} dicts on one core: requests over dataaccess": at_least(3),
    "decoder_to_columns: Contract": at_least(2.5),
    "decoder_to_columns: Escapes": at_least(1.2),
    **{f"decoder over serde_visitor: {shape}": at_least(1) for shape in DECODED_SHAPES},
    "one record: search_codes over pyreqwest": at_most(1),
    "one record: post over pyreqwest": at_most(1),
    "one record: requests over search_codes": at_least(7),
    "one record: requests over post": at_least(7),
    "one record, 16 threads: dataaccess over pyreqwest": at_most(1),
    "one record, 16 threads: post over pyreqwest": at_most(1.11),
    "one record, 16 threads: one thread over dataaccess": at_least(1.5),
    "one record, asyncio, 16 at a time: aiohttp over dataaccess": at_least(1.5),
    "one record, asyncio, 16 at a time: pyreqwest over dataaccess": at_least(0.9),
    "one record, asyncio, 1 at a time: aiohttp over dataaccess": at_least(0.9),
    "import in a new process: dataaccess": at_most(20),
    "first record of a new process: dataaccess": at_most(60),
    "500 requests of 50 ms, 32 at once: over the ideal": at_most(1.1),
    f"{MILLION} pandas by TLS and gzip: requests over dataaccess": at_least(10),
    "highest memory: 1,000,000 rows streamed": at_most(64),
    "highest memory: 10,000,000 rows streamed": at_most(64),
    "highest memory: growth from 1,000,000 to 10,000,000 rows": at_most(5),
    "3,000,000 rows in 30 requests streamed: highest memory": at_most(64),
    "30,000,000 rows in 300 requests streamed: highest memory": at_most(64),
    "30,000,000 rows in 300 requests streamed: growth of the memory": at_most(5),
    "time of a row when streamed: slowest over quickest": at_most(1.2),
    "import in a new process: threads left": at_most(0),
    "import in a new process: sockets left": at_most(0),
    # The sandbox, for tests of users' own programs.
    "one customer: searches": at_least(2_000),
    "codes of a member: searches": at_least(2_000),
    "1,000,000 rows: loaded from dicts in": at_most(60),
    "1,000,000 rows: rows": at_least(300_000),
    "1,000,000 rows: memory added at its highest": at_most(16),
}
