"""The responses of the benches: promotion codes from a fixed seed, as the API specification shows them.

A record has 257 bytes with its comma, on average. 30 % have no `allocated_*`, 80 % no `last_used_*`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from random import Random

HEAD = b'{"code":200,"message":"Search Business Object success","data":{"status":true,"data":['
TAIL = b"]}}"
BLOCK = 10_000
DISTINCT_BLOCKS = 100


def record(random: Random) -> str:
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


ATTRIBUTES: list[str] = list(json.loads(record(Random(0))))


@functools.cache
def block(seed: int, records: int) -> bytes:
    random = Random(seed)
    return ",".join(record(random) for _ in range(records)).encode()


def response(records: int) -> Iterator[bytes]:
    """The pieces of a body with this number of records. After the last distinct block, the first one is repeated."""
    yield HEAD
    for number, start in enumerate(range(0, records, BLOCK)):
        if start:
            yield b","
        yield block(number % DISTINCT_BLOCKS, min(BLOCK, records - start))
    yield TAIL
