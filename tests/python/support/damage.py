"""A folder of a run, damaged byte by byte: each time the damage is reported, or the data is requested again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.runs import JOURNAL, rows_in

import dataaccess as da

DAYS = da.days("2024-01-01", "2024-01-04")


@dataclass(frozen=True)
class Damage:
    """A file, and what it holds instead."""

    name: str
    content: bytes
    where: str


def scan_of(client: Any) -> Any:
    """A scan of three tasks whose folder is small."""
    return client.scan_codes(["id", "pool_id"], allocated_time=DAYS)


def flips(folder: Path, chance: random.Random) -> Iterator[Damage]:
    """Each byte of each file, with one of its bits or all of them turned over."""
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for place in range(len(content)):
            turned = chance.choice([0xFF, 1 << chance.randrange(8)])
            changed = bytes([content[place] ^ turned])
            yield Damage(path.name, content[:place] + changed + content[place + 1 :], f"byte {place} ^ {turned:#x}")


def cuts(folder: Path) -> Iterator[Damage]:
    """Each file cut after each of its bytes."""
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for place in range(len(content)):
            yield Damage(path.name, content[:place], f"cut at {place} of {len(content)}")


def check(client: Any, whole: Path, damage: Damage, folder: Path) -> bool:
    """Runs in the damaged folder; whether the damage was reported. Rows are right, or there are none."""
    where = f"{damage.name}, {damage.where}"
    shutil.copytree(whole, folder)
    (folder / damage.name).write_bytes(damage.content)
    errors: list[da.CheckpointCorruptError] = []
    try:
        try:
            report = scan_of(client).run(folder)
        except da.CheckpointCorruptError as error:
            errors.append(error)
        else:
            assert rows_in(folder) == rows_in(whole), where
            assert report.rows == len(rows_in(whole)), where
    finally:
        shutil.rmtree(folder)
    for each in errors:
        assert each.path is not None, where
        assert Path(each.path).name == damage.name, where
        assert (each.line is not None) == (damage.name == JOURNAL), where
        assert each.hint is not None, where
    return bool(errors)
