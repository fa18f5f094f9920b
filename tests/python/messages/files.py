"""Files with rows."""

from __future__ import annotations

import io
from typing import Any

from messages.scans import stray
from support.messages import Cases, User

import dataaccess as da


def names(user: User) -> dict[str, Any]:
    user.file("file")
    (user.folder / "folder.csv").mkdir()
    (user.folder / "link.csv").symlink_to("/dev/stdout")
    scan = user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    return {"scan": scan, "io": io}


FILES = Cases(names)


async def _awaited(_stats: object) -> bool:
    return True


@FILES.of("scan.to_csv('rows.csv', on_doubt=a coroutine function)")
def _coroutine(user: User) -> None:
    scan = user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    scan.to_csv("rows.csv", on_doubt=_awaited)  # type: ignore[arg-type] # the mistake


@FILES.of("scan.to_csv('rows.csv', on_doubt='error') of rows of another day")
def _doubtful(_user: User) -> None:
    with stray() as service:
        scan = service.client().scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
        scan.to_csv("rows.csv", on_doubt="error")


class NonBlocking(io.RawIOBase):
    """A file that takes nothing now."""

    def writable(self) -> bool:
        return True

    def write(self, _data: Any) -> None:
        return None


@FILES.of("scan.to_csv(a file that takes no more bytes)")
def _full(user: User) -> None:
    user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_csv(NonBlocking())


@FILES.of("scan.to_csv('rows.csv') where the limit of file sizes is reached")
def _limit(user: User) -> None:
    import resource
    import signal

    scan = user.client.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
    try:
        scan.to_csv("rows.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
