"""What a user sees of errors and warnings: cases that make them, and their messages as text."""

from __future__ import annotations

import datetime as dt
import io
import logging
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RawServer, Responder, always, http, serving
from support.streams import response_of

import dataaccess as da
from dataaccess.cli import main

WIDTH = 120
ADDRESS = "https://cdp.example.com"
TOKEN = "example-token-0123456789"
COMMAND = "$ dataaccess "
# Variables of the environment, as a label has them behind the call.
VARIABLES = re.compile(r" with [A-Z_]+=")
ROW = response_of([{"n": "x", "text": "x"}])
# What varies by machine and run, and what stands for it.
VARYING = (
    (re.compile(r"\b(127\.0\.0\.1|localhost):\d+"), r"\1:<port>"),
    (re.compile(r"\bport \d{4,5}\b"), "port <port>"),
    (re.compile(r"\b(in|after) \d+\.\d+ s\b"), r"\1 <seconds> s"),
    (re.compile(r"\bafter \d+ requests"), "after <number> requests"),
    (re.compile(r"\b\d+ attempts were"), "<number> attempts were"),
    (re.compile(r"\(\d+ bytes received\)"), "(<number> bytes received)"),
    (re.compile(r"\brequest [0-9a-f]{16}-"), "request <id>-"),
    (re.compile(r"clock says .* GMT"), "clock says <time>"),
    (re.compile(r"\(requested \d{4}-\d\d-\d\d\)"), "(requested <day>)"),
    (re.compile(r"\bprocess \d+( on [\w.-]+)?"), "process <id>"),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
    # CPython 3.12 and newer show the number.
    (re.compile(r"(float values are not JSON compliant): nan"), r"\1"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
)


# What a user did. It raises, warns, or returns the lines that a program showed.
Act = Callable[["User"], object]


class Shown(str):
    """What a command printed or a logger recorded."""


def days_shown(report: object) -> Shown:
    """The lines of a report of a folder that are about its days."""
    figures = ("size:", "time:", "retries:", "requested:", "service:", "folder:")
    return Shown("\n".join(line for line in str(report).splitlines() if not line.startswith(figures)))


@dataclass
class User:
    """What a case uses: a folder of its own, the demo data, clients, and servers of which a test decides the bytes."""

    folder: Path
    sandbox: da.Sandbox
    patch: pytest.MonkeyPatch
    stack: ExitStack

    @cached_property
    def client(self) -> da.Client:
        return da.Client(self.sandbox.base_url, token=self.sandbox.issue_token())

    def file(self, name: str, content: str | bytes = "", mode: int = 0o644) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    def profiles(self, content: str) -> None:
        self.file("dataaccess/config.toml", content, 0o600)

    @contextmanager
    def served(self, response: bytes | Responder, **options: Any) -> Iterator[da.Client]:
        """A client of a server that sends this response to each request; it does not retry."""
        with serving(always(response) if isinstance(response, bytes) else response) as server:
            yield client_of(server, **options)

    def command(self, *words: str, service: str | None = "demo") -> Shown:
        """The exit code of a command and what it printed to standard error."""
        if service is not None:
            address = self.sandbox.base_url if service == "demo" else service
            self.patch.setenv("DATAACCESS_BASE_URL", address)
            self.patch.setenv("DATAACCESS_TOKEN", self.sandbox.issue_token() if service == "demo" else TOKEN)
        with self.patch.context() as patch, redirect_stderr(io.StringIO()) as reported:
            for name in ("stdin", "stdout"):
                patch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
            code = main(words)
        return Shown(f"exit {code}: {reported.getvalue()}".rstrip(" :"))


def program(text: str, *arguments: str) -> Shown:
    """What a program of its own prints to standard error, without the lines of the program."""
    # CPython 3.12 and newer warn of each fork beside other threads.
    command = [sys.executable, "-W", "always", "-W", "ignore::DeprecationWarning", "-c", text, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=30, check=False)
    found = re.findall(r"^(?:\S+:\d+: |dataaccess\S*\.)?(\w+(?:Warning|Error): .*)$", done.stderr, re.MULTILINE)
    return Shown("\n".join(found))


def client_of(server: RawServer, **options: Any) -> da.Client:
    return da.Client(server.base_url, **{"token": TOKEN, "retry_for": 0, **options})


def ask(client: Any) -> object:
    """A search for which a server may send anything."""
    return client.search_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)


def data(value: object) -> bytes:
    """A success with these data."""
    return http({"code": 200, "message": "ok", "data": value})


@dataclass
class Cases:
    """The cases of a heading: functions by their label, and what the calls use that stand in the file itself."""

    names: Callable[[User], dict[str, Any]] = lambda _user: {}
    acts: dict[str, Act] = field(default_factory=dict)

    def act(self, label: str) -> Act:
        """What a label stands for: a function that has it, a command line or a call."""
        if label in self.acts:
            return self.acts[label]
        written, _, given = label.partition(" with ") if VARIABLES.search(label) else (label, "", "")
        variables = dict(each.split("=", 1) for each in given.split(", ") if each)
        code = None if label.startswith(COMMAND) else compile(written, label, "eval")

        def call(user: User) -> object:
            if code is None:
                self.names(user)
                return user.command(*shlex.split(label.removeprefix(COMMAND)))
            for name, value in variables.items():
                user.patch.setenv(name, value)
            known = {"da": da, "dt": dt, "col": da.col, "client": user.client, "user": user} | self.names(user)
            return eval(code, known)

        return call

    def of(self, label: str) -> Callable[[Act], Act]:
        """Adds a function as the case with this label."""

        def add(act: Act) -> Act:
            assert label not in self.acts, label
            self.acts[label] = act
            return act

        return add

    def table(self, acts: dict[str, Act]) -> None:
        for label, act in acts.items():
            self.of(label)(act)

    def responses(
        self, table: dict[str, bytes | Responder], use: Callable[[Any], object] = ask, **options: Any
    ) -> None:
        """Adds a case for each response of a service, by what it is."""

        def act(user: User, response: bytes | Responder) -> object:
            with user.served(response, **options) as client:
                return use(client)

        self.table({label: partial(act, response=response) for label, response in table.items()})


@contextmanager
def logged(level: int) -> Iterator[io.StringIO]:
    """The log records of a block, a line each."""
    logger, handler = logging.getLogger("dataaccess"), logging.StreamHandler(text := io.StringIO())
    handler.setFormatter(logging.Formatter("{levelname} {name}: {message}", style="{"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield text
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def messages_of(act: Act, sandbox: da.Sandbox, root: Path) -> list[str]:
    """What a user sees: warnings, then what was raised or shown."""
    folder = root / f"case-{len(list(root.iterdir()))}"
    folder.mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        ExitStack() as stack,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        # It is issued once in a process.
        warnings.filterwarnings("ignore", ".* is (a|the) sandbox: its data is synthetic", UserWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        patch.chdir(folder)
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        patch.setenv("APPDATA", str(folder))
        ended: list[str] = []
        try:
            shown = act(User(folder, sandbox, patch, stack))
        except (Exception, SystemExit) as error:
            ended.append(f"{type(error).__name__}: {error}")
            # The first note of several problems is what the message begins with.
            notes = [note for note in getattr(error, "__notes__", ()) if not str(error).startswith(note)]
            ended += (f"note: {note}" for note in notes)
        else:
            ended += shown.splitlines() if isinstance(shown, Shown) else []
    warned = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return [normal(line, folder) for line in dict.fromkeys([*warned, *ended])]


def normal(line: str, folder: Path) -> str:
    """A message without what varies by machine and run."""
    line = line.replace(str(folder), "<folder>").replace(str(Path(da.__file__).parent), "<package>")
    for pattern, instead in VARYING:
        line = pattern.sub(instead, line)
    return line


def entry(label: str, lines: list[str]) -> str:
    wrapped = [textwrap.fill(line, WIDTH, initial_indent="    ", subsequent_indent="      ", **_WRAP) for line in lines]
    first = textwrap.fill(label, WIDTH, subsequent_indent="  ", **_WRAP)
    return "\n".join([first, *wrapped])


_WRAP: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "drop_whitespace": True}
