"""The command: the exit code and what it prints to standard error."""

from __future__ import annotations

import shlex

from support.messages import Case, Cases, User
from support.runs import parts

import dataaccess as da

COMMANDS = Cases()


def command(line: str, service: str | None = "demo") -> Case:
    """A command line."""

    def act(user: User) -> object:
        user.file("token", "example-token").chmod(0o600)
        user.file("night.toml")
        (user.folder / "folder").mkdir()
        (user.folder / "run" / ".dataaccess").mkdir(parents=True)
        return user.command(*shlex.split(line), service=service)

    return Case(f"$ dataaccess {line}", act)


DAY = "--on 2024-01-15"

COMMANDS.add([
    *map(command, [
        "cods",
        "--versoin",
        "codes --limti 3",
        f"codes {DAY} --token abc",
        "--base-url sandbox:demo codes",
        "codes --on",
        "codes",
        f"codes {DAY} --on 2024-01-16",
        f"codes {DAY} --since 2024-01-01",
        f"codes {DAY} --timeout 0",
        f"codes {DAY} --timeout soon",
        f"codes {DAY} --timezone Mars",
        f"codes {DAY} --limit x",
        f"codes {DAY} --limit 0",
        f"codes {DAY} --attrs nmae",
        f"codes {DAY} --status snet",
        f"codes {DAY} --audience-type customer",
        f"codes {DAY} --audience @nowhere",
        f"codes {DAY} --status ,",
        f"codes {DAY} --json --format csv",
        f"codes {DAY} --format xls",
        f"codes {DAY} --token-file nowhere",
        f"codes {DAY} --profile nope",
        "codes --on 2024-02-30",
        "codes --days 2024-02-01 2024-01-01",
        "codes --days 2024-02-01",
        "codes --days 2024-02-01 --folder codes",
        "codes --days 2024-01-01 2024-01-05T10:00",
        "codes --since 2024-01-05T10:00",
        "codes --last 0",
        "codes --last x",
        "codes --where \"month('January')\"",
        "codes --where \"on('2024-01-15') | clo('id').equals(1)\"",
        f"codes {DAY} --where \"on('2024-01-15')\"",
        "codes --status used --where {}",
        "items",
        "items customer",
        "items custmer --attrs name",
        "items customer --attrs name,surname --where \"col('a')\"",
        "items customer --attrs name --where \"col('name') == 1\"",
        "items customer --attrs name --where \"on('2024-01-15')\"",
        "items promotion_code --attrs id",
        "items customer --attrs name --limit 0",
        "items customer --attrs name --matches name",
        "items customer --attrs name --matches age:=x",
        "items customer --attrs name --where {1,2",
        "items customer --attrs name --where \"col('a').equals(1) and col('b').equals(2)\"",
        "items customer --attrs name --where \"col('a').on(2024-01-15)\"",
        "items customer --attrs name --where \"col('a') = 1\"",
        "items customer --attrs name --where {} --matches name=a",
        "segment",
        "segment 1.5",
        "segment 1",
        "segment 5637051 --timeout 0",
        "status nowhere",
        "status .",
        "check --day 2031-13-15",
        "check --export 5637051",
        f"codes {DAY} -o folder",
        f"codes {DAY} -o run/rows.csv",
        f"codes {DAY} -o rows.x",
        f"codes {DAY} -o rows.parquet --format csv",
        f"codes {DAY} -o rows.csv.bz2",
        f"codes {DAY} -o rows.arrow --format csv",
        f"codes {DAY} -o rows.csv --settle 1h",
        f"codes {DAY} --schema id",
        f"codes {DAY} --folder codes --limit 3",
        f"codes {DAY} --folder codes --settle soon",
        f"codes {DAY} --folder codes --settle 9999d",
        f"codes {DAY} --folder codes --refresh 2024-01-16",
        f"codes {DAY} --folder codes --accept yes",
        f"codes {DAY} -o no/rows.csv",
        f"codes {DAY} --folder codes -o rows.csv",
        f"codes {DAY} --folder token",
        "sandbox --scenario night.toml --demo",
        "sandbox --demo --empty",
        "sandbox --port 65536",
        "sandbox --port http",
        "sandbox --scopes itme",
        "sandbox --switch latnecy=1",
        "sandbox --switch latency",
        "sandbox --switch latency=abc",
        "sandbox --token-file nowhere",
        "sandbox --host 0.0.0.0",
    ]),
    command(f"codes {DAY}", None),
    command(f"codes {DAY} --base-url cdp.example.com", None),
    command(f"codes {DAY}", "http://cdp.example.com"),
])  # fmt: skip


@COMMANDS.of("$ dataaccess codes --on 2024-01-15, where nothing listens")
def _away(user: User) -> object:
    user.patch.setenv("DATAACCESS_RETRY_FOR", "0")
    return user.command("codes", "--on", "2024-01-15", service="http://127.0.0.1:9")


@COMMANDS.of("$ dataaccess codes --on 2999-01-01")
def _nothing(user: User) -> object:
    return user.command("codes", "--on", "2999-01-01")


@COMMANDS.of("$ dataaccess codes --on 2024-01-15, where the token is refused")
def _denied(user: User) -> object:
    with user.sandbox.fault("expired_token"):
        return user.command("codes", "--on", "2024-01-15")


@COMMANDS.of("$ dataaccess codes --days 2024-01-01 2024-01-05 --folder codes, where a day is rejected")
def _folder(user: User) -> object:
    with user.sandbox.fault("status", status=400, where={"day": "2024-01-03"}):
        return user.command("codes", "--days", "2024-01-01", "2024-01-05", "--folder", "codes")


for _options in ("--fail-empty", "--strict"):
    for _target in ("--folder codes", "--output rows.csv"):
        COMMANDS.add([command(f"codes --on 2999-01-01 {_target} {_options}")])


@COMMANDS.of("$ dataaccess status codes, with a damaged file")
def _status(user: User) -> object:
    user.client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04")).to_folder("codes")
    parts(user.folder / "codes")[0].write_bytes(b"damaged")
    return user.command("status", "codes", "--strict")
