"""Folders with a file for each day."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from messages.network import faster
from messages.scans import stray
from support.messages import Cases, User, days_shown
from support.objects import Store, error
from support.raw_server import always, http, in_turn, serving
from support.runs import by_day, parts, planted, some_days
from support.streams import response_of

import dataaccess as da


def written_again(content: bytes) -> bytes:
    file = BytesIO()
    pq.write_table(pq.read_table(BytesIO(content)).replace_schema_metadata(), file)
    return file.getvalue()


def names(user: User) -> dict[str, Any]:
    scan = user.client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-05"))
    user.file("other/notes.parquet")
    user.file("file")
    (user.folder / "link").symlink_to("other")
    return {"scan": scan}


FOLDERS = Cases(names)
ATTRS = ["id", "pool_id", "allocated_time"]


def eight_days(label: str, act: Callable[[User, da.Sandbox, Any], object]) -> None:
    """A case in whose folder are eight days."""

    def run(user: User) -> object:
        with some_days() as service:
            scan = by_day(service.client(concurrency=1, retry_for=0), ATTRS)
            scan.to_folder("codes")
            return act(user, service, scan)

    FOLDERS.of(label)(run)


def another(use: str = "to_folder", attrs: list[str] = ATTRS, **options: Any) -> Callable[..., object]:
    """The same folder with another query or another client."""
    settings = {name: options.pop(name) for name in ("timezone", "max_result_bytes") if name in options}
    return lambda _user, service, _scan: getattr(by_day(service.client(**settings), attrs, **options), use)("codes")


eight_days("scan.to_folder('codes') with other attributes", another(attrs=["id", "name"]))
eight_days("scan.to_folder('codes') with its attributes in another order", another(attrs=[*ATTRS[1::-1], ATTRS[2]]))
eight_days("scan.to_folder('codes') with another condition", another(code_status="sent"))
eight_days("scan.to_folder('codes') with other types", another(schema={"pool_id": "string"}))
eight_days("scan.to_folder('codes') with another zone", another(timezone="Asia/Ho_Chi_Minh"))
eight_days("scan.read_folder('codes') with max_result_bytes=100", another("read_folder", max_result_bytes=100))


def of_another(_user: User, _service: da.Sandbox, _scan: Any) -> object:
    with some_days() as other:
        return by_day(other.client(), ATTRS).to_folder("codes")


eight_days("scan.to_folder('codes') of another service", of_another)


def part(user: User, number: int) -> Path:
    return parts(user.folder / "codes")[number]


def change(user: User, how: Callable[[bytes], bytes]) -> None:
    """Writes the second file anew."""
    part(user, 1).write_bytes(how(part(user, 1).read_bytes()))


def link(user: User) -> None:
    first, second, *_ = parts(user.folder / "codes")
    first.unlink()
    first.symlink_to(second)


WRITTEN: dict[str, Callable[[User], object]] = {
    "with a file that is no part": lambda user: user.file("codes/day=2024-01-02/mine.parquet", "mine"),
    "with the file of another day in place of one": lambda user: part(user, 0).write_bytes(part(user, 1).read_bytes()),
    "with two damaged files": lambda user: [part(user, number).write_bytes(b"damaged") for number in (0, 1)],
    "with a file of a later version of dataaccess": lambda user: change(
        user, lambda content: planted(content, pq.read_table(BytesIO(content)), format=99)
    ),
    "that others may write to": lambda user: (user.folder / "codes").chmod(0o775),
    "with a link in place of a file": link,
}
if os.name == "posix" and os.geteuid() == 0:
    WRITTEN["with a file of another user"] = lambda user: os.chown(part(user, 0), 12345, -1)
READ: dict[str, Callable[[User], object]] = {
    "with a file whose rows are damaged": lambda user: change(
        user, lambda content: content[:50] + b"\0\0\0" + content[53:]
    ),
    "with a file whose footer is damaged": lambda user: change(
        user, lambda content: content[:-40] + b"\0\0\0" + content[-37:]
    ),
    "with the file of another program": lambda user: change(user, written_again),
    "without two of its files": lambda user: list(map(Path.unlink, parts(user.folder / "codes")[1:3])),
}


def after(change: Callable[[User], object], use: str) -> Callable[[User, da.Sandbox, Any], object]:
    return lambda user, _service, scan: (change(user), getattr(scan, use)("codes"))


for _name, _changes in {"to_folder": WRITTEN, "read_folder": READ}.items():
    for _label, _change in _changes.items():
        eight_days(f"scan.{_name}('codes') {_label}", after(_change, _name))


def meanwhile(_user: User, service: da.Sandbox, scan: Any) -> object:
    other = by_day(service.client(), ATTRS)
    with service.fault("delay", seconds=10):
        return scan.to_folder("codes", refresh="all", progress=lambda _: other.to_folder("codes"))


eight_days("scan.to_folder('codes') while another run writes into it", meanwhile)


def faulty(kind: Any, **options: Any) -> Callable[[User, da.Sandbox, Any], object]:
    """Requests all days of a service that fails."""

    def act(_user: User, service: da.Sandbox, scan: Any) -> object:
        with service.fault(kind, **options):
            scan.to_folder("codes", refresh="all")
        return days_shown(da.folder_status("codes"))

    return act


eight_days("scan.to_folder('codes') with a token that is refused", faulty("expired_token", after=3))
eight_days("scan.to_folder('codes') where the service fails", faulty("status", status=503, retry_after=0, after=3))
for _keep in (0, 0.75):
    eight_days(
        f"scan.to_folder('codes', refresh='all', on_doubt='warn') with {_keep:.0%} of the rows",
        faulty("shrink", keep=_keep, where={"day": "2024-01-02"}),
    )
eight_days(
    "scan.to_folder('codes', on_doubt=a function that refuses)",
    lambda _user, _service, scan: scan.to_folder("codes", refresh="all", on_doubt=lambda _report: False),
)


ERROR = {"on_doubt": "error"}


def doubted(label: str, service: Callable[[], Any], days: Any, attrs: list[str]) -> None:
    @FOLDERS.of(f"scan.to_folder('codes', on_doubt='error') of {label}")
    def act(_user: User) -> object:
        with service() as running:
            return running.client(concurrency=1).scan_codes(attrs, allocated_time=days).to_folder("codes", **ERROR)


doubted(
    "a service that caps its responses",
    lambda: some_days((30, 45, 7, 0, 12, 50, 60, 18), maximum_rows=18),
    da.days("2024-01-01", "2024-01-09"),
    ["id"],
)
doubted(
    "a service that cuts days in another zone",
    stray,
    da.days("2024-01-01", "2024-01-03"),
    ["id", "allocated_time"],
)


@FOLDERS.of("scan.to_folder('codes') of one more day, where earlier days have as many rows")
def _capped_before(_user: User) -> object:
    with some_days((30, 45, 20, 25, 50, 60), maximum_rows=18) as service:
        client = service.client()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06")).to_folder("codes")
        return client.scan_codes(["id"], allocated_time=da.on("2024-01-06")).to_folder("codes")


THIRTY = [{"id": str(number), "name": "x"} for number in range(30)]


@FOLDERS.of("scan.to_folder('codes') of one more day, where an attribute has another name")
def _renamed(_user: User) -> None:
    with serving(
        in_turn(response_of(THIRTY), response_of([{"id": row["id"], "Name": "x"} for row in THIRTY]))
    ) as server:
        client = da.Client(server.base_url, token="t", timezone="UTC")
        for day in ("2024-01-15", "2024-01-16"):
            client.scan_codes(["id", "name"], allocated_time=da.on(day)).to_folder("codes")


def second_run(label: str, second: bytes, **options: Any) -> None:
    """A folder of a day whose rows have values, and a response without."""

    @FOLDERS.of(f"scan.to_folder('codes', refresh='all'{''.join(f', {n}={v!r}' for n, v in options.items())}) {label}")
    def act(_user: User) -> object:
        with serving(in_turn(response_of(THIRTY), second)) as server:
            scan = da.Client(server.base_url, token="t").scan_codes(["id", "name"], allocated_time=da.on("2024-01-15"))
            scan.to_folder("codes")
            return scan.to_folder("codes", refresh="all", **options)


for _options in ({}, ERROR):
    second_run("where an attribute is gone", response_of([{"id": row["id"]} for row in THIRTY]), **_options)
    second_run("where an id comes twice", response_of([THIRTY[0]] * 30), **_options)
second_run("of a response without data", http({"code": 200, "message": "ok"}))


@FOLDERS.of("da.folder_status('codes', until='soon')")
def _until(user: User) -> object:
    user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
    return da.folder_status("codes", until="soon")


@FOLDERS.of("da.folder_status('codes') of a folder with a damaged file and a missing day")
def _status(user: User) -> object:
    days = da.days("2024-01-01", "2024-01-05")
    user.client.scan_codes(["id"], allocated_time=days).to_folder("codes")
    first, second, *_ = parts(user.folder / "codes")
    first.write_bytes(b"damaged")
    second.unlink()
    return days_shown(da.folder_status("codes"))


@FOLDERS.of("client of sandbox:demo, scan.to_folder('codes') with rows of a platform")
def _synthetic(user: User) -> object:
    with serving(always(response_of([{"id": "1"}]))) as server:
        client = da.Client(server.base_url, token="t")
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
    return user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")


# Stores: what they refuse.


def stored(user: User, address: str) -> object:
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        user.patch.delenv(name)
    user.patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    given = {**Store(0, 0, "bucket").options, "aws_endpoint_url": address}
    scan = user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    return scan.to_folder("s3://bucket/codes", storage_options=given)


def refused(label: str, status: str, code: str, message: str = "no") -> None:
    def act(user: User) -> object:
        body = error(code, message) if code else ""
        with serving(always(http(body.encode(), status, content_type="application/xml"))) as store:
            return stored(user, store.base_url)

    FOLDERS.of(f"scan.to_folder('s3://bucket/codes') of a store that {label}")(act)


refused("has no such bucket", "404 Not Found", "NoSuchBucket", "gone")
refused("does not know the key", "403 Forbidden", "InvalidAccessKeyId", "not known")
refused("denies access", "403 Forbidden", "AccessDenied")
refused("refuses without a reason", "401 Unauthorized", "")
refused("sends a page", "200 OK", "Page")


@FOLDERS.of("scan.to_folder('s3://bucket/codes') of a store that cannot be reached")
def _away(user: User) -> object:
    with faster(200):
        return stored(user, "http://127.0.0.1:9")
