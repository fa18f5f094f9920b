"""Records of the logger `dataaccess`."""

from __future__ import annotations

import logging

from messages.network import faster
from support.messages import ROW, Cases, Shown, User, ask, client_of, logged
from support.raw_server import http, in_turn, serving

import dataaccess as da

LOGS = Cases()


@LOGS.of("HTTP 503 with Retry-After: 0, then a result")
def _retried(_user: User) -> object:
    failure = http(b"", "503 Busy", headers=("Retry-After: 0",))
    with logged(logging.INFO) as lines, faster(), serving(in_turn(failure, ROW)) as server:
        ask(client_of(server, retry_for=60))
    return Shown("\n".join(lines))


@LOGS.of("a search at the level of debug")
def _debug(_user: User) -> object:
    with logged(logging.DEBUG) as lines, serving(in_turn(ROW)) as server:
        ask(client_of(server))
    return Shown("\n".join(lines))


@LOGS.of("a token that is refused, then another")
def _renewed(_user: User) -> object:
    tokens = iter(["example-token-1", "example-token-2"])
    refusal = http({"code": 301, "message": "Permission denied"}, "403 Forbidden")
    with logged(logging.INFO) as lines, serving(in_turn(refusal, ROW)) as server:
        ask(client_of(server, token=lambda: next(tokens), retry_for=60))
    return Shown("\n".join(lines))


@LOGS.of("scan.to_folder('codes'), of which one day fails once")
def _folder(user: User) -> object:
    with logged(logging.INFO) as lines, faster(), user.sandbox.fault("status", status=500, times=1):
        client = user.sandbox.client(concurrency=1)
        client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03")).to_folder("codes")
    # Other threads log retries and requests.
    return Shown("\n".join(sorted(lines, key=lambda line: (".retry:" not in line, ".access:" in line))))
