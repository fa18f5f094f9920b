"""Files with rows."""

from __future__ import annotations

import io
from typing import Any

from messages.scans import stray
from support.messages import Case, Cases, User, calls

import dataaccess as da

FILES = Cases()


def names(user: User) -> dict[str, Any]:
    """What the calls use."""
    user.file("file")
    (user.folder / "folder.csv").mkdir()
    (user.folder / "link.csv").symlink_to("/dev/stdout")
    scan = user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    return {"scan": scan, "io": io}


FILES.add(
    calls(
        """
        scan.to_csv("no/folder.csv")
        scan.to_csv("file/rows.csv")
        scan.to_csv("folder.csv")
        scan.to_csv("")
        scan.to_csv("a\\0b")
        scan.to_csv("x" * 300)
        scan.to_csv("/dev/null")
        scan.to_csv("link.csv")
        scan.to_csv("~nobody-here/rows.csv")
        scan.to_csv(7)
        scan.to_csv(b"rows.csv")
        scan.to_csv("ftp://host/rows.csv")
        scan.to_csv("file://host/rows.csv")
        scan.to_csv("rows.parquet")
        scan.to_csv("rows.csv.bz2")
        scan.to_csv("rows.xlsx")
        scan.to_parquet("rows.csv.gz")
        scan.to_parquet("rows.parquet.gz")
        scan.to_jsonl("rows.pq")
        scan.to_csv("rows.csv", compression="bz2")
        scan.to_csv("rows.csv.gz", compression="zstd")
        scan.to_csv("rows.csv.gz", compression=None)
        scan.to_csv("rows.csv", separator="")
        scan.to_csv("rows.csv", separator="ab")
        scan.to_csv("rows.csv", separator=44)
        scan.to_csv("rows.csv", escape_formulas="yes")
        scan.to_csv("rows.csv", compression="bz2", separator="ab")
        scan.to_csv("rows.csv", on_doubt="raise")
        scan.to_csv("rows.csv", on_doubt=lambda stats: None)
        scan.to_csv("rows.csv", on_doubt=lambda stats: False)
        scan.to_csv(io.StringIO())
        scan.to_csv("s3:///rows.csv")
        scan.to_csv("s3://key:secret@bucket/rows.csv")
        scan.to_csv("s3://bucket/rows.csv?signature=secret")
        scan.to_csv("s3://bucket/")
        scan.to_csv("s3://bucket/rows.csv", storage_options="key")
        scan.to_csv("s3://bucket/rows.csv", storage_options={"key": 5})
        scan.to_csv("s3://bucket/rows.csv", storage_options={"aws_colour": "red"})
        scan.to_csv("s3://bucket/rows.csv", storage_options={"aws_endpoint_url": "http://store.example.com"})
        scan.to_csv("s3://bucket/rows.csv", storage_options={"aws_endpoint_url": "not a url"})
        scan.to_csv("s3://bucket/rows.csv", storage_options={"timeout": "soon"})
        scan.to_csv("s3://bucket/rows.csv", storage_options={"aws_checksum_algorithm": "md5"})
        scan.to_csv("s3://bucket/rows.csv", storage_options={"aws_conditional_put": "maybe"})
        scan.to_csv("gs://bucket/rows.csv", storage_options={"google_service_account_key": "{"})
        scan.to_csv("gs://bucket/rows.csv", storage_options={"google_service_account": "nowhere.json"})
        scan.to_csv("az://bucket/rows.csv", storage_options={
            "azure_storage_account_name": "name", "azure_storage_account_key": "not base64"})
        scan.to_csv("az://bucket/rows.csv", storage_options={
            "azure_storage_account_name": "name", "azure_storage_sas_token": "signature"})
        scan.to_csv("rows.csv", storage_options={"aws_region": "x"})
        """,
        names,
    )
)


async def _awaited(_stats: object) -> bool:
    return True


@FILES.of("scan.to_csv('rows.csv', on_doubt=a coroutine function)")
def _coroutine(user: User) -> None:
    scan = user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    scan.to_csv("rows.csv", on_doubt=_awaited)  # type: ignore[arg-type] # the mistake


def doubtful(**options: Any) -> Case:
    """A file with rows of another day."""

    def act(_user: User) -> None:
        with stray() as service:
            scan = service.client().scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
            scan.to_csv("rows.csv", **options)

    given = "".join(f", {name}={value!r}" for name, value in options.items())
    return Case(f"scan.to_csv('rows.csv'{given}) of rows of another day", act)


FILES.add([doubtful(), doubtful(on_doubt="error")])


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
