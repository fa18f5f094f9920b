"""Settings of a client: arguments, variables, profiles, tokens."""

from __future__ import annotations

import pickle
import time
from datetime import timedelta, timezone
from typing import Any

from support.messages import ADDRESS, ROW, TOKEN, Cases, User, ask, program
from support.raw_server import always, serving

import dataaccess as da

# A file of profiles, to which a case may add.
GOOD = f'[profiles.one]\nbase_url = "{ADDRESS}"\n'


def names(user: User) -> dict[str, Any]:
    def search_with(token: Any) -> object:
        with user.served(ROW, token=token, timeout=0.1) as client:
            return ask(client)

    def raises() -> str:
        raise LookupError("no vault")

    def profile(content: str, name: str = "one", **options: Any) -> object:
        user.profiles(content)
        return da.Client(profile=name, **options)

    known = {
        "GOOD": GOOD,
        "profile": profile,
        "pickle": pickle,
        "timezone": timezone,
        "timedelta": timedelta,
        "time": time,
    }
    return {**known, "search_with": search_with, "raises": raises}


SETTINGS = Cases(names)


@SETTINGS.of("da.Client(…) with several wrong settings")
def _several(_user: User) -> object:
    wrong = {"token": "t\n", "timezone": 5, "timeout": -1, "concurrency": 0, "headers": "X-Key: secret"}
    return da.Client("cdp.example.com", **wrong)  # type: ignore[arg-type] # mistakes


@SETTINGS.of("da.Client(profile='one') with a folder as the file")
def _profiles_of_a_folder(user: User) -> object:
    (user.folder / "dataaccess/config.toml").mkdir(parents=True)
    return da.Client(profile="one")


@SETTINGS.of("client of a profile whose token was removed from the file")
def _token_gone(user: User) -> object:
    user.profiles('[profiles.one]\ntoken = "secret"\n')
    with serving(always(ROW)) as server:
        client = da.Client(server.base_url, profile="one", retry_for=0)
        user.profiles("[profiles.one]\n")
        return ask(client)


@SETTINGS.of("da.Client(profile='one') with a token in a file that others can read")
def _readable_profiles(user: User) -> object:
    user.file("dataaccess/config.toml", GOOD + 'token = "secret"\n').chmod(0o644)
    return da.Client(profile="one")


@SETTINGS.of("da.Client(profile='one') with the token of DATAACCESS_TOKEN, and a token in the profile")
def _token_of_another(user: User) -> object:
    user.profiles(GOOD + 'token = "secret"\n')
    user.patch.setenv("DATAACCESS_TOKEN", "t")
    return da.Client(profile="one")


# Of tokens that are made for each use.


@SETTINGS.of("token=a function that uses the client which calls it")
def _uses_itself(user: User) -> object:
    clients: list[da.Client] = []

    def token() -> str:
        ask(clients[0])
        return TOKEN

    with user.served(ROW, token=token, timeout=5) as client:
        clients.append(client)
        return ask(client)


# Clients that are closed or of another kind.


@SETTINGS.of("client.close(), then client.search_items(…)")
def _closed(user: User) -> object:
    with user.served(ROW) as client:
        client.close()
        return ask(client)


@SETTINGS.of("with da.AsyncClient(…) as client: …")
def _with(user: User) -> object:
    with da.AsyncClient(ADDRESS, token="t") as client:  # type: ignore[attr-defined] # the mistake
        return client


# Other processes.

FORKED = """
import os, sys
import dataaccess as da

batches = da.Client(sys.argv[1], token=sys.argv[2]).scan_codes(["id"], allocated_time=da.on("2024-01-15")).batches()
if os.fork() == 0:
    next(batches)
os.wait()
"""


@SETTINGS.of("next(batches) in a child, of batches that were opened before os.fork()")
def _forked(user: User) -> object:
    return program(FORKED, user.sandbox.base_url, user.sandbox.issue_token())
