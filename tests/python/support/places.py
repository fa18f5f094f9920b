"""The folder of runs, on this machine or in a bucket: what a test reads and damages there."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

from support.objects import Store

LOCK = ".dataaccess/lock"


class LocalPlace:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.path, self.url = path, str(path)

    def files(self) -> dict[str, bytes]:
        """The content of each file, by its name."""
        paths = [path for path in self.path.rglob("*") if path.is_file()]
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in paths}

    def write(self, name: str, content: bytes | None) -> None:
        if content is None:
            (self.path / name).unlink()
        else:
            (self.path / name).write_bytes(content)

    def exists(self) -> bool:
        return self.path.exists()

    def unlock(self) -> None:
        """Removes the lock of a run that was killed: here it ends with its process."""

    def is_locked(self) -> bool:
        """Whether a run holds the lock."""
        from fcntl import LOCK_EX, LOCK_NB, flock

        lock = self.path / LOCK
        if not lock.exists():
            return False
        with lock.open() as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return True
        return False


class BucketPlace:
    """The same in an object store, whose settings are in the environment."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name, self.url = store, name, store.url(name)

    def files(self) -> dict[str, bytes]:
        names = [name for name in self.store.names() if name.startswith(f"{self.name}/")]
        return {name.removeprefix(f"{self.name}/"): self.store.get(name) for name in names}

    def write(self, name: str, content: bytes | None) -> None:
        if content is None:
            self.store.delete(f"{self.name}/{name}")
        else:
            self.store.put(f"{self.name}/{name}", content)

    def exists(self) -> bool:
        return bool(self.files())

    def unlock(self) -> None:
        if self.is_locked():
            self.write(LOCK, None)

    def is_locked(self) -> bool:
        return LOCK in self.files()


Place = LocalPlace | BucketPlace


def parts_of(place: Place) -> dict[str, bytes]:
    """The content of each part, by its name."""
    return {name: content for name, content in place.files().items() if name.endswith(".parquet")}


def wait_until_unlocked(place: Place) -> None:
    """Waits for the tasks in flight of a run that was stopped: until they end, its folder is locked."""
    until = monotonic() + 30
    while place.is_locked():
        assert monotonic() < until
        sleep(0.001)
