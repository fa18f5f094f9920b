"""A folder of a run, damaged byte by byte: each time the damage is reported, or the data is requested again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import kinds
from support.runs import parts

import dataaccess as da

DAYS = da.days("2024-01-01", "2024-01-04")


@dataclass(frozen=True)
class Damage:
    name: str
    content: bytes
    where: str


def scan_of(client: Any) -> Any:
    return client.scan_codes(["id", "pool_id"], allocated_time=DAYS)


def flips(folder: Path, chance: random.Random) -> Iterator[Damage]:
    """Each byte of each file, with one of its bits or all of them turned over."""
    for path in parts(folder):
        content = path.read_bytes()
        for place in range(len(content)):
            turned = chance.choice([0xFF, 1 << chance.randrange(8)])
            changed = bytes([content[place] ^ turned])
            yield Damage(
                str(path.relative_to(folder)),
                content[:place] + changed + content[place + 1 :],
                f"byte {place} ^ {turned:#x}",
            )


def cuts(folder: Path) -> Iterator[Damage]:
    for path in parts(folder):
        content = path.read_bytes()
        for place in range(len(content)):
            yield Damage(str(path.relative_to(folder)), content[:place], f"cut at {place} of {len(content)}")


def check(client: Any, whole: Path, damage: Damage, folder: Path) -> bool:
    """Runs in the damaged folder and reads it. Both report the damage, or only reading does: then it is in the rows.

    Returns whether the run reported it. Running with `refresh=` restores the folder.
    """
    where = f"{damage.name}, {damage.where}"
    shutil.copytree(whole, folder)
    (folder / damage.name).write_bytes(damage.content)
    scan = scan_of(client)
    day = damage.name.removeprefix("day=").partition("/")[0]
    errors: list[da.DataAccessError] = []
    try:
        for use in (scan.to_folder, scan.read_folder):
            try:
                use(folder)
            except da.FolderError as error:
                errors.append(error)
            except da.ScanIncompleteError as error:
                errors.extend(error.failed.values())
        scan.to_folder(folder, refresh=[day])
        assert scan.read_folder(folder).to_pylist() == scan.read_folder(whole).to_pylist(), where
    finally:
        shutil.rmtree(folder)
    assert 1 <= len(errors) <= 2, where
    for each in errors:
        assert isinstance(each, kinds.Corrupt), where
        assert each.path is not None, where
        assert each.path.endswith(damage.name), where
        assert each.day == day, where
        assert f'refresh "{day}"' in str(each), where
    return len(errors) == 2
