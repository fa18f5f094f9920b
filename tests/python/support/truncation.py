"""Responses that stop after any byte, in every framing and encoding, and what must become of them.

The oracle counts bytes and closing braces; it reads no JSON that is not whole.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from support import kinds
from support.compressed import PACK
from support.raw_server import EXPORT, Close, RawServer, serving

import dataaccess as da

FRAMINGS = ("length", "chunked", "close", "shorter length", "last chunk")
"""The first three are cut off. The last two end as HTTP ends, but too early: only the content shows it."""
ENCODINGS = tuple(PACK)
CHUNK = 40

CODES: list[dict[str, Any]] = [
    {"id": "a", "name": 'ä "quoted" \\ {name}', "pool_id": -1},
    {"id": "b", "name": "🎁 } ] {", "pool_id": None},
    {"id": "c", "name": "", "pool_id": 9_007_199_254_740_993},
]
ITEMS: list[dict[str, Any]] = [
    {"n": 1, "more": {"k": [1, 2.5, {"x": "}"}]}},
    {"n": -0.5, "more": [[], {}]},
    {"n": 1e300, "more": None},
    {"n": 10**17, "more": "]}"},
]


@dataclass(frozen=True)
class Case:
    """A response, the call that requests it, and its full result."""

    name: str
    body: bytes
    ask: Callable[[Any], Any]
    expected: Any
    record_ends: tuple[int, ...] = ()
    """For streams: the place behind each record."""


def ends_of(body: bytes, records: list[dict[str, Any]], **options: Any) -> tuple[int, ...]:
    """Where each record of a body ends."""
    ends: list[int] = []
    for record in records:
        written = json.dumps(record, **options).encode()
        ends.append(body.index(written, ends[-1] if ends else 0) + len(written))
    return tuple(ends)


# Compact, in the order of the specification.
COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}
CODES_BODY = json.dumps({"code": 200, "message": "ok", "data": {"status": True, "data": CODES}}, **COMPACT).encode()
# Spaced, the verdict behind the records, and a line's end behind everything.
ITEMS_BODY = json.dumps({"data": {"data": ITEMS, "status": True}, "message": "ok", "code": 200}).encode() + b"\n"
OF_CODES: dict[str, Any] = {"attrs": ["id", "name", "pool_id"], "allocated_time": da.on("2024-01-15")}
OF_ITEMS = ("store", ["n", "more"], da.col("n").equals("x"))
# Given, so that the first row need not wait for others.
TYPES: Any = {"n": "json", "more": "json"}
CASES = (
    Case("codes", CODES_BODY, lambda client: client.search_codes(**OF_CODES), CODES),
    Case(
        "codes in batches",
        CODES_BODY,
        lambda client: client.scan_codes(**OF_CODES).batches(max_rows=1),
        CODES,
        ends_of(CODES_BODY, CODES, **COMPACT),
    ),
    Case("items", ITEMS_BODY, lambda client: client.search_items(*OF_ITEMS, item_type_id=7), ITEMS),
    Case(
        "items in batches",
        ITEMS_BODY,
        lambda client: client.scan_items(*OF_ITEMS, item_type_id=7, schema=TYPES).batches(max_rows=1),
        ITEMS,
        ends_of(ITEMS_BODY, ITEMS),
    ),
    Case(
        "download",
        json.dumps(EXPORT, indent=1).encode(),
        lambda client: client.download_segment(5637051),
        # The envelope with `data` laid open.
        {**EXPORT["data"], **{name: value for name, value in EXPORT.items() if name != "data"}},
    ),
)


@dataclass(frozen=True)
class Cut:
    """What a server sends of a response, and what the oracle says of it."""

    sent: bytes
    is_whole: bool
    has_head: bool
    content: bytes
    """The plain bytes of the body that can be read."""


@dataclass(frozen=True)
class Wire:
    """A response in a framing and an encoding."""

    case: Case
    framing: str
    encoding: str
    packed: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "packed", PACK[self.encoding](self.case.body))

    def head(self, size: int) -> bytes:
        framed = {
            "length": f"Content-Length: {len(self.packed)}\r\n",
            "shorter length": f"Content-Length: {size}\r\n",
            "close": "",
        }.get(self.framing, "Transfer-Encoding: chunked\r\n")
        encoded = "" if self.encoding == "identity" else f"Content-Encoding: {self.encoding}\r\n"
        return f"HTTP/1.1 200 OK\r\nConnection: close\r\n{framed}{encoded}\r\n".encode()

    def places(self) -> int:
        """How many places there are to cut at, the end among them."""
        if self.ends_well:
            return len(self.packed) + 1
        return len(self.head(0)) + len(self.framed(self.packed)) + 1

    @property
    def ends_well(self) -> bool:
        """Whether HTTP ends as it should wherever the content is cut."""
        return self.framing in {"shorter length", "last chunk"}

    def framed(self, body: bytes) -> bytes:
        if self.framing not in {"chunked", "last chunk"}:
            return body
        parts = [body[start : start + CHUNK] for start in range(0, len(body), CHUNK)]
        return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])

    def cut(self, place: int) -> Cut:
        """The response up to this place."""
        if self.ends_well:
            body = self.packed[:place]
            sent, has_head, ended = self.head(place) + self.framed(body), True, True
        else:
            head = self.head(len(self.packed))
            whole = head + self.framed(self.packed)
            sent, has_head = whole[:place], place >= len(head)
            ended = place == len(whole) or self.framing == "close"
            body = self.unframed(sent[len(head) :])
        content = self.unpacked(body)
        # Behind the last brace there is at most white space; what is compressed has an end of its own.
        has_all = body == self.packed if self.encoding != "identity" else self.is_closed(content)
        return Cut(sent, has_head and ended and has_all, has_head, content)

    def is_closed(self, content: bytes) -> bool:
        return len(content) >= len(self.case.body.rstrip())

    def unframed(self, framed: bytes) -> bytes:
        """As much of a body as came."""
        if self.framing != "chunked":
            return framed
        body = b""
        for start in range(0, len(self.packed), CHUNK):
            part = self.packed[start : start + CHUNK]
            size = b"%x\r\n" % len(part)
            body += framed[len(size) :][: len(part)]
            framed = framed[len(size) + len(part) + 2 :]
        return body

    def unpacked(self, body: bytes) -> bytes:
        """As much of the content as can be read of a body; zstd decodes nothing before a block's end."""
        if self.encoding == "gzip":
            return zlib.decompressobj(31).decompress(body)
        if self.encoding == "zstd":
            return self.case.body if body == self.packed else b""
        return body


@contextmanager
def cutting() -> Iterator[Cutter]:
    cutter = Cutter()
    with serving(cutter.respond) as server:
        cutter.server = server
        yield cutter


class Cutter:
    """Sends one cut response after the other, each on a connection of its own, and judges what became of it."""

    server: RawServer
    sent: bytes = b""

    def respond(self, connection: Any, _number: int) -> None:
        connection.sendall(self.sent)
        raise Close

    def check(self, client: Any, wire: Wire, place: int) -> None:
        """A complete response is the result; anything less is an error of its class, with only whole rows before it."""
        cut, case = wire.cut(place), wire.case
        self.sent = cut.sent
        where = f"{case.name}, {wire.framing}, {wire.encoding}, cut at {place} of {wire.places() - 1}"
        before = len(self.server.requests)
        given: list[Any] = []
        error: BaseException | None = None
        try:
            found = case.ask(client)
            if case.record_ends:
                for batch in found:
                    given.extend(batch.to_pylist())
                found = given
        except da.DataAccessError as caught:
            error = caught
        assert len(self.server.requests) == before + 1, where
        if cut.is_whole:
            assert error is None, f"{where}: {error!r}"
            assert found == case.expected, where
            return
        assert error is not None, f"{where}: taken for a result"
        if case.record_ends:
            assert given == case.expected[: len(given)], where
            self.check_stream(wire, cut, given, error, where)
            error = error.__cause__ if given else error
        expected = kinds.Truncated if cut.has_head else kinds.Lost
        assert isinstance(error, expected), f"{where}: {error!r}"

    @staticmethod
    def check_stream(wire: Wire, cut: Cut, given: list[Any], error: BaseException, where: str) -> None:
        """The rows that were complete were given, and counted."""
        complete = sum(end <= len(cut.content) for end in wire.case.record_ends)
        assert len(given) == complete, where
        if given:
            assert isinstance(error, da.StreamInterruptedError), f"{where}: {error!r}"
            assert error.rows_yielded == len(given), where


def client_of(connect: Any, cutter: Cutter) -> Any:
    return connect(cutter.server.base_url, retry_for=0)


def wires(framing: str, encoding: str) -> list[Wire]:
    return [Wire(case, framing, encoding) for case in CASES]


every_wire = pytest.mark.parametrize(
    ("framing", "encoding"), [(framing, encoding) for framing in FRAMINGS for encoding in ENCODINGS]
)
