"""The responses that the benches of the client ask for: promotion codes made by a fixed seed, as the wire has them.

A record has 257 bytes with its comma, on average; 30 of 100 have no `allocated_*`, 80 no `last_used_*`. Other shapes
have the same records written differently. It knows nothing of how the responses are sent.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

ATTRIBUTES: list[str] = [
    "id",
    "name",
    "pool_id",
    "audience_type",
    "allocated_audience",
    "code_status",
    "date_created",
    "allocated_time",
    "last_used_source",
    "last_used_time",
]
HEAD = b'{"code":200,"message":"Search Business Object success","data":{"status":true,"data":['
TAIL = b"]}}"
BLOCK = 10_000
DISTINCT_BLOCKS = 100
DISTINCT_BLOCKS_OF_A_SHAPE = 10
DAY = "2024-03-05"


def record(random: Random) -> str:
    """The next promotion code, as JSON."""
    chance = random.random()
    number = int(random.random() * 1e9)
    day, clock = number % 28 + 1, f"{number % 24:02}:{number % 60:02}:{number % 59:02}"
    audience = f'"customer-{number % 1_000_000:06}"' if chance < 0.7 else "null"
    allocated = f'"2024-{number % 12 + 1:02}-{day:02} {clock}"' if chance < 0.7 else "null"
    source, used = (f'"shop {number % 100}"', f'"2025-02-{day:02} {clock}"') if chance < 0.2 else ("null", "null")
    return (
        f'{{"id":"code-{number:09}","name":"Spring Sale {number % 1000}","pool_id":{900 + number % 90},'
        f'"audience_type":{-1003 if number % 2 else -1007},"allocated_audience":{audience},'
        f'"code_status":{4 if chance < 0.2 else 3 if chance < 0.7 else 1},'
        f'"date_created":"2023-{number % 11 + 1:02}-{day:02} {clock}","allocated_time":{allocated},'
        f'"last_used_source":{source},"last_used_time":{used}}}'
    )


def members(random: Random) -> dict[str, Any]:
    """The next promotion code as a dict."""
    found: dict[str, Any] = json.loads(record(random))
    return found


def escapes(random: Random) -> str:
    """Half of the names begin with four characters of another script, escaped."""
    text = record(random)
    return text.replace("Spring Sale", "\\u6625\\u306e\\u5272\\u5f15 Sale") if random.random() < 0.5 else text


def spaces(random: Random) -> str:
    """A space behind each comma and colon."""
    return json.dumps(members(random))


def shuffled(random: Random) -> str:
    """Each tenth record has its keys in another order."""
    found = members(random)
    keys = list(found)
    if random.random() < 0.1:
        random.shuffle(keys)
    return json.dumps({key: found[key] for key in keys}, separators=(",", ":"))


def omitted(random: Random) -> str:
    """Keys whose value is null are left out."""
    found = {key: value for key, value in members(random).items() if value is not None}
    return json.dumps(found, separators=(",", ":"))


def extras(random: Random) -> str:
    """Two keys that nobody requested behind each of the others."""
    found: dict[str, Any] = {}
    for number, (key, value) in enumerate(members(random).items()):
        found |= {key: value, f"attribute_{number}": number, f"note_{number}": f"value {number}"}
    return json.dumps(found, separators=(",", ":"))


def day(random: Random) -> str:
    """All allocated on one day, as a search of that day gives them."""
    found = members(random)
    found["allocated_audience"] = found["allocated_audience"] or "customer-0"
    found["allocated_time"] = f"{DAY} {random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02}"
    return json.dumps(found, separators=(",", ":"))


SHAPES: dict[str, Callable[[Random], str]] = {
    "": record,
    **{shape.__name__: shape for shape in (escapes, spaces, shuffled, omitted, extras, day)},
}


@functools.cache
def block(shape: str, seed: int, records: int) -> bytes:
    """So many records with commas between them."""
    random = Random(seed)  # noqa: S311 - rows, not secrets
    return ",".join(SHAPES[shape](random) for _ in range(records)).encode()


def answer(records: int, shape: str = "") -> Iterator[bytes]:
    """The body of a response with so many records, piece by piece: after the last block comes the first one again."""
    yield HEAD
    blocks = DISTINCT_BLOCKS if not shape else DISTINCT_BLOCKS_OF_A_SHAPE
    for number, start in enumerate(range(0, records, BLOCK)):
        if start:
            yield b","
        yield block(shape, number % blocks, min(BLOCK, records - start))
    yield TAIL
