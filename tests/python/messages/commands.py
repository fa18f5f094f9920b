"""The command, with its exit code and standard error, and records of the logger `dataaccess`."""

from __future__ import annotations

import logging
from typing import Any

from messages.network import faster
from support.messages import ROW, Cases, Shown, User, ask, client_of, logged
from support.raw_server import http, in_turn, serving
from support.runs import parts

import dataaccess as da


def names(user: User) -> dict[str, Any]:
    user.file("token", "example-token").chmod(0o600)
    user.file("night.toml")
    (user.folder / "folder").mkdir()
    (user.folder / "run" / ".dataaccess").mkdir(parents=True)
    return {}


COMMANDS = Cases(names)
DAY = ("codes", "--on", "2024-01-15")
COMMANDS.table(
    {
        "$ dataaccess codes --on 2024-01-15, without an address": lambda user: user.command(*DAY, service=None),
        "$ dataaccess codes --on 2024-01-15 --base-url cdp.example.com, without a token": lambda user: user.command(
            *DAY, "--base-url", "cdp.example.com", service=None
        ),
        "$ dataaccess codes --on 2024-01-15, where the address is http://cdp.example.com": lambda user: user.command(
            *DAY, service="http://cdp.example.com"
        ),
    }
)


@COMMANDS.of("$ dataaccess codes --on 2024-01-15, where nothing listens")
def _away(user: User) -> object:
    user.patch.setenv("DATAACCESS_RETRY_FOR", "0")
    return user.command(*DAY, service="http://127.0.0.1:9")


@COMMANDS.of("$ dataaccess codes --days 2024-01-01 2024-01-05 --folder codes, where a day is rejected")
def _folder(user: User) -> object:
    with user.sandbox.fault("status", status=400, where={"day": "2024-01-03"}):
        return user.command("codes", "--days", "2024-01-01", "2024-01-05", "--folder", "codes")


@COMMANDS.of("$ dataaccess status codes, with a damaged file")
def _status(user: User) -> object:
    user.client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04")).to_folder("codes")
    parts(user.folder / "codes")[0].write_bytes(b"damaged")
    return user.command("status", "codes", "--strict")


# Records of the logger `dataaccess`.


LOGS = Cases()


def recorded(label: str, level: int, *given: bytes, **options: Any) -> None:
    """A search of a service that responds so."""

    @LOGS.of(label)
    def act(_user: User) -> object:
        with logged(level) as log, faster(), serving(in_turn(*given)) as server:
            ask(client_of(server, **options))
        return Shown(log.getvalue())


BUSY = http(b"", "503 Busy", headers=("Retry-After: 0",))
REFUSAL = http({"code": 301, "message": "Permission denied"}, "403 Forbidden")
TOKENS = iter(["example-token-1", "example-token-2"])
recorded("HTTP 503 with Retry-After: 0, then a result", logging.INFO, BUSY, ROW, retry_for=60)
recorded("a search at the level of debug", logging.DEBUG, ROW)
recorded("a token that is refused, then another", logging.INFO, REFUSAL, ROW, token=TOKENS.__next__, retry_for=60)


@LOGS.of("scan.to_folder('codes'), of which one day fails once")
def _run(user: User) -> object:
    with logged(logging.INFO) as log, faster(), user.sandbox.fault("status", status=500, times=1):
        client = user.sandbox.client(concurrency=1)
        client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03")).to_folder("codes")
    # Other threads log retries and requests.
    return Shown(
        "\n".join(sorted(log.getvalue().splitlines(), key=lambda line: (".retry:" not in line, ".access:" in line)))
    )
