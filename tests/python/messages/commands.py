"""The command: the exit code and what it prints to standard error."""

from __future__ import annotations

from typing import Any

from support.messages import Case, Cases, User
from support.runs import parts

import dataaccess as da


def names(user: User) -> dict[str, Any]:
    """The files that command lines name."""
    user.file("token", "example-token").chmod(0o600)
    user.file("night.toml")
    (user.folder / "folder").mkdir()
    (user.folder / "run" / ".dataaccess").mkdir(parents=True)
    return {}


COMMANDS = Cases(names)
DAY = ("codes", "--on", "2024-01-15")
COMMANDS.add([
    Case("$ dataaccess codes --on 2024-01-15, without an address", lambda user: user.command(*DAY, service=None)),
    Case(
        "$ dataaccess codes --on 2024-01-15 --base-url cdp.example.com, without a token",
        lambda user: user.command(*DAY, "--base-url", "cdp.example.com", service=None),
    ),
    Case(
        "$ dataaccess codes --on 2024-01-15, where the address is http://cdp.example.com",
        lambda user: user.command(*DAY, service="http://cdp.example.com"),
    ),
])  # fmt: skip


@COMMANDS.of("$ dataaccess codes --on 2024-01-15, where nothing listens")
def _away(user: User) -> object:
    user.patch.setenv("DATAACCESS_RETRY_FOR", "0")
    return user.command("codes", "--on", "2024-01-15", service="http://127.0.0.1:9")


@COMMANDS.of("$ dataaccess codes --days 2024-01-01 2024-01-05 --folder codes, where a day is rejected")
def _folder(user: User) -> object:
    with user.sandbox.fault("status", status=400, where={"day": "2024-01-03"}):
        return user.command("codes", "--days", "2024-01-01", "2024-01-05", "--folder", "codes")


@COMMANDS.of("$ dataaccess status codes, with a damaged file")
def _status(user: User) -> object:
    user.client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04")).to_folder("codes")
    parts(user.folder / "codes")[0].write_bytes(b"damaged")
    return user.command("status", "codes", "--strict")
