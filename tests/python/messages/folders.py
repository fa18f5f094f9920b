"""Folders with a file for each day."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow.parquet as pq
from messages.network import faster
from messages.scans import stray
from support.messages import Case, Cases, User, told
from support.planted import planted
from support.raw_server import always, http, in_turn, serving
from support.runs import by_day, parts, some_days
from support.streams import response_of

import dataaccess as da


def written_again(content: bytes) -> bytes:
    """The rows of a part, as pyarrow writes them."""
    file = BytesIO()
    pq.write_table(pq.read_table(BytesIO(content)).replace_schema_metadata(), file)
    return file.getvalue()


def names(user: User) -> dict[str, Any]:
    """What the calls use."""
    scan = user.client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-05"))
    user.file("other/notes.parquet")
    user.file("file")
    (user.folder / "link").symlink_to("other")
    return {"scan": scan}


FOLDERS = Cases(names)


def folder_case(label: str) -> Callable[[Callable[[User, da.Sandbox, Any], object]], None]:
    """A case in whose folder are eight days."""

    def add(act: Callable[[User, da.Sandbox, Any], object]) -> None:
        def run(user: User) -> object:
            with some_days() as service:
                scan = by_day(service.client(concurrency=1), ["id", "pool_id", "allocated_time"])
                scan.to_folder("codes")
                return act(user, service, scan)

        FOLDERS.add([Case(label, run)])

    return add


def another(label: str, **options: Any) -> None:
    """The same folder with another query."""

    @folder_case(f"scan.to_folder('codes') with {label}")
    def act(_user: User, service: da.Sandbox, _scan: Any) -> object:
        timezone = options.pop("timezone", None)
        client = service.client() if timezone is None else service.client().with_options(timezone=timezone)
        return by_day(client, **{"attrs": ["id", "pool_id", "allocated_time"], **options}).to_folder("codes")


another("other attributes", attrs=["id", "name"])
another("its attributes in another order", attrs=["pool_id", "id", "allocated_time"])
another("another condition", code_status="sent")
another("other types", schema={"pool_id": "string"})
another("another zone", timezone="Asia/Ho_Chi_Minh")


@folder_case("scan.to_folder('codes') of another service")
def _service(_user: User, _service: da.Sandbox, _scan: Any) -> object:
    with some_days() as other:
        return by_day(other.client(), ["id", "pool_id", "allocated_time"]).to_folder("codes")


@folder_case("scan.to_folder('codes') with a file that is no part")
def _foreign(user: User, _service: da.Sandbox, scan: Any) -> object:
    user.file("codes/day=2024-01-02/mine.parquet", "mine")
    return scan.to_folder("codes")


@folder_case("scan.to_folder('codes') with the file of another day in place of one")
def _exchanged(user: User, _service: da.Sandbox, scan: Any) -> object:
    first, second, *_ = parts(user.folder / "codes")
    first.write_bytes(second.read_bytes())
    return scan.to_folder("codes")


@folder_case("scan.to_folder('codes') with two damaged files")
def _damaged(user: User, _service: da.Sandbox, scan: Any) -> object:
    for path in parts(user.folder / "codes")[:2]:
        path.write_bytes(b"damaged")
    return scan.to_folder("codes")


for _what, _damage in {
    "a file whose rows are damaged": lambda content: content[:50] + b"\0\0\0" + content[53:],
    "a file whose footer is damaged": lambda content: content[:-40] + b"\0\0\0" + content[-37:],
    "the file of another program": lambda content: written_again(content),
}.items():

    @folder_case(f"scan.read_folder('codes') with {_what}")
    def _read(user: User, _service: da.Sandbox, scan: Any, damage: Any = _damage) -> object:
        path = parts(user.folder / "codes")[1]
        path.write_bytes(damage(path.read_bytes()))
        return scan.read_folder("codes")


@folder_case("scan.to_folder('codes') with a file of a later version of dataaccess")
def _later(user: User, _service: da.Sandbox, scan: Any) -> object:
    path = parts(user.folder / "codes")[1]
    content = path.read_bytes()
    path.write_bytes(planted(content, pq.read_table(BytesIO(content)), format=99))
    return scan.to_folder("codes")


@folder_case("scan.read_folder('codes') without two of its files")
def _missing(user: User, _service: da.Sandbox, scan: Any) -> object:
    for path in parts(user.folder / "codes")[1:3]:
        path.unlink()
    return scan.read_folder("codes")


@folder_case("scan.read_folder('codes') with max_result_bytes=100")
def _memory(_user: User, service: da.Sandbox, _scan: Any) -> object:
    client = service.client().with_options(max_result_bytes=100)
    return by_day(client, ["id", "pool_id", "allocated_time"]).read_folder("codes")


@folder_case("scan.to_folder('codes') that others may write to")
def _writable(user: User, _service: da.Sandbox, scan: Any) -> object:
    (user.folder / "codes").chmod(0o775)
    return scan.to_folder("codes")


@folder_case("scan.to_folder('codes') with a file that others may write to")
def _writable_file(user: User, _service: da.Sandbox, scan: Any) -> object:
    parts(user.folder / "codes")[0].chmod(0o666)
    return scan.to_folder("codes")


@folder_case("scan.to_folder('codes') with a link in place of a file")
def _link(user: User, _service: da.Sandbox, scan: Any) -> object:
    path = parts(user.folder / "codes")[0]
    path.unlink()
    path.symlink_to(parts(user.folder / "codes")[1])
    return scan.to_folder("codes")


if os.name == "posix" and os.geteuid() == 0:

    @folder_case("scan.to_folder('codes') with a file of another user")
    def _user(user: User, _service: da.Sandbox, scan: Any) -> object:
        os.chown(parts(user.folder / "codes")[0], 12345, -1)
        return scan.to_folder("codes")


@folder_case("scan.to_folder('codes') while another run writes into it")
def _locked(user: User, service: da.Sandbox, scan: Any) -> object:
    def second(_progress: object) -> None:
        by_day(other, ["id", "pool_id", "allocated_time"]).to_folder("codes")

    other = service.client()
    with service.fault("delay", seconds=10):
        return scan.to_folder("codes", refresh="all", progress=second)


@folder_case("scan.to_folder('codes') where two days are rejected")
def _rejected(user: User, service: da.Sandbox, scan: Any) -> object:
    with (
        service.fault("status", status=400, where={"day": "2024-01-03"}),
        service.fault("status", status=400, where={"day": "2024-01-05"}),
    ):
        return scan.to_folder("codes", refresh="all")


@folder_case("scan.to_folder('codes') with a token that is refused")
def _denied(user: User, service: da.Sandbox, scan: Any) -> object:
    with service.fault("expired_token", after=3):
        return scan.to_folder("codes", refresh="all")


@folder_case("scan.to_folder('codes') where the service fails")
def _fails(user: User, service: da.Sandbox, _scan: Any) -> object:
    client = service.client().with_options(retry_for=0, concurrency=1)
    scan = by_day(client, ["id", "pool_id", "allocated_time"])
    with service.fault("status", status=503, retry_after=0, after=3):
        return scan.to_folder("codes", refresh="all")


for _keep, _on_doubt in ((0, "warn"), (0.75, "warn")):

    @folder_case(f"scan.to_folder('codes', refresh='all', on_doubt={_on_doubt!r}) with {_keep:.0%} of the rows")
    def _shrunk(user: User, service: da.Sandbox, scan: Any, keep: float = _keep, how: str = _on_doubt) -> object:
        with service.fault("shrink", keep=keep, where={"day": "2024-01-02"}):
            scan.to_folder("codes", refresh="all", on_doubt=how)
        return told(da.folder_status("codes"))


@folder_case("scan.to_folder('codes', on_doubt=a function that refuses)")
def _function(_user: User, _service: da.Sandbox, scan: Any) -> object:
    return scan.to_folder("codes", refresh="all", on_doubt=lambda _report: False)


@FOLDERS.of("scan.to_folder('codes') of days that are not over")
def _open(_user: User) -> object:
    with some_days() as service:
        days = da.days("2024-02-28", "2024-03-03")
        return service.client().scan_codes(["id"], allocated_time=days).to_folder("codes")


@FOLDERS.of("scan.to_folder('codes') of a service that caps its responses")
def _capped(_user: User) -> object:
    with some_days((30, 45, 7, 0, 12, 50, 60, 18), maximum_rows=18) as service:
        return by_day(service.client(), ["id"]).to_folder("codes")


@FOLDERS.of("scan.to_folder('codes') of one more day, where earlier days have as many rows")
def _capped_before(_user: User) -> object:
    with some_days((30, 45, 20, 25, 50, 60), maximum_rows=18) as service:
        client = service.client()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06")).to_folder("codes")
        return client.scan_codes(["id"], allocated_time=da.on("2024-01-06")).to_folder("codes")


@FOLDERS.of("scan.to_folder('codes') of one more day, where an attribute has another name")
def _renamed(_user: User) -> object:
    rows = [{"id": str(n), "name": "x"} for n in range(30)]
    others = [{"id": str(n), "Name": "x"} for n in range(30)]
    with serving(in_turn(response_of(rows), response_of(others))) as server:
        client = da.Client(server.base_url, token="t", timezone="UTC")
        for day in ("2024-01-15", "2024-01-16"):
            report = client.scan_codes(["id", "name"], allocated_time=da.on(day)).to_folder("codes")
        return report


@FOLDERS.of('scan.to_folder("codes", on_doubt="error") of a service that caps its responses')
def _capped_error(_user: User) -> object:
    with some_days((30, 45, 7, 0, 12, 50, 60, 18), maximum_rows=18) as service:
        return by_day(service.client(), ["id"]).to_folder("codes", on_doubt="error")


@FOLDERS.of("scan.to_folder('codes') of a service that cuts days in another zone")
def _stray(_user: User) -> object:
    with stray() as service:
        days = da.days("2024-01-01", "2024-01-03")
        scan = service.client().scan_codes(["id", "allocated_time"], allocated_time=days)
        return scan.to_folder("codes")


# Of a response of a raw server: the report shows the day.
DATE = b"\r\nDate: Fri, 01 Mar 2024 12:00:00 GMT\r\n"


def second_run(label: str, second: bytes, **options: Any) -> None:
    """A folder of a day whose rows have values, and a response without."""

    @FOLDERS.of(f"scan.to_folder('codes', refresh='all'{''.join(f', {n}={v!r}' for n, v in options.items())}) {label}")
    def act(_user: User) -> object:
        rows = [{"id": str(n), "name": "x"} for n in range(30)]
        responses = (each.replace(b"\r\n", DATE, 1) for each in (response_of(rows), second))
        with serving(in_turn(*responses)) as server:
            scan = da.Client(server.base_url, token="t").scan_codes(["id", "name"], allocated_time=da.on("2024-01-15"))
            scan.to_folder("codes")
            return scan.to_folder("codes", refresh="all", **options)


for _options in ({}, {"on_doubt": "error"}):
    second_run("where an attribute is gone", response_of([{"id": str(n)} for n in range(30)]), **_options)
    second_run("where an id comes twice", response_of([{"id": "1", "name": "x"}] * 30), **_options)

second_run("of a response without data", http({"code": 200, "message": "ok"}))


@FOLDERS.of("scan.to_folder('codes', on_doubt='error') of a service that cuts days in another zone")
def _stray_error(_user: User) -> object:
    with stray() as service:
        days = da.days("2024-01-01", "2024-01-03")
        client = service.client(concurrency=1)
        return client.scan_codes(["id", "allocated_time"], allocated_time=days).to_folder("codes", on_doubt="error")


@FOLDERS.of("da.folder_status('codes', until='soon')")
def _until(user: User) -> object:
    user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
    return da.folder_status("codes", until="soon")


@FOLDERS.of("da.folder_status('codes', until=5)")
def _until_number(_user: User) -> object:
    return da.folder_status("codes", until=5)  # type: ignore[arg-type] # the mistake


@FOLDERS.of("da.folder_status('codes') of a folder with a damaged file and a missing day")
def _status(user: User) -> object:
    days = da.days("2024-01-01", "2024-01-05")
    user.client.scan_codes(["id"], allocated_time=days).to_folder("codes")
    first, second, *_ = parts(user.folder / "codes")
    first.write_bytes(b"damaged")
    second.unlink()
    return told(da.folder_status("codes"))


@FOLDERS.of("client of sandbox:demo, scan.to_folder('codes') with rows of a platform")
def _synthetic(user: User) -> object:
    with serving(always(response_of([{"id": "1"}]))) as server:
        client = da.Client(server.base_url, token="t")
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
    return user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")


# Stores: what they refuse.


def stored(user: User, address: str, **options: str) -> object:
    """A run into a store at this address."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        user.patch.delenv(name)
    user.patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    given = {
        "aws_endpoint_url": address,
        "aws_allow_http": "true",
        "aws_access_key_id": "example",
        "aws_secret_access_key": "example-secret",
        "aws_region": "us-east-1",
        **options,
    }
    scan = user.client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    return scan.to_folder("s3://bucket/codes", storage_options=given)


def refused(label: str, status: str, code: str, message: str = "no") -> None:
    """A store that refuses every request."""

    def act(user: User) -> object:
        body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>" if code else ""
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


@FOLDERS.of("scan.to_folder('s3://bucket/codes') with an option that is no value")
def _option(user: User) -> object:
    return stored(user, "http://127.0.0.1:9", aws_allow_http="perhaps")
