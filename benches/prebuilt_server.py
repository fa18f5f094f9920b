"""A server that costs next to nothing: it sends responses that lie in its memory, over connections that it keeps.

As a program it says in one line of JSON where it is and serves until its input ends. The first part of the path
names the response: `/1000000/…` has a million records, `/gzip-1000000/…` the same compressed, `/chunked-1000000/…` in
chunks of 8 KiB, `/spaces-1000000/…` in another shape of `records`, `/later-10/…` ten after 50 ms. `PrebuiltServer` is
the other side, for the benches.
"""

from __future__ import annotations

import contextlib
import functools
import json
import selectors
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import cores
import records
import trustme

Selector = selectors.DefaultSelector
LATENCY = 0.05
CHUNK = 8 << 10
LATER = "later-"


def gzipped(pieces: Iterable[bytes]) -> bytes:
    """The pieces as one gzip stream, at the level of a service in a hurry."""
    press = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16)
    return b"".join([*map(press.compress, pieces), press.flush()])


def chunked(pieces: Iterable[bytes]) -> bytes:
    """The pieces as the chunks of a chunked transfer."""
    body = b"".join(pieces)
    chunks = (body[start : start + CHUNK] for start in range(0, len(body), CHUNK))
    return b"".join([b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks] + [b"0\r\n\r\n"])


@functools.cache
def answer(name: str) -> list[bytes]:
    """What is sent for a name, head and all; a block that comes again is the same in memory."""
    form, _, count = name.rpartition("-")
    pieces = list(records.answer(int(count), form if form in records.SHAPES else ""))
    encoding = ""
    if form == "gzip":
        pieces, encoding = [gzipped(pieces)], "Content-Encoding: gzip\r\n"
    length = f"Content-Length: {sum(map(len, pieces))}"
    if form == "chunked":
        pieces, length = [chunked(pieces)], "Transfer-Encoding: chunked"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{encoding}{length}\r\n\r\n"
    # A small response is one write, and so one packet.
    return [head.encode(), *pieces] if sum(map(len, pieces)) > 65_536 else [b"".join([head.encode(), *pieces])]


class Waiting:
    """Responses that are not due yet, in the order in which they will be."""

    def __init__(self) -> None:
        """None yet."""
        self._answers: deque[tuple[float, socket.socket, list[bytes]]] = deque()

    def add(self, stream: socket.socket, pieces: list[bytes]) -> None:
        """A response to be sent after the latency."""
        self._answers.append((time.monotonic() + LATENCY, stream, pieces))

    def until_due(self) -> float | None:
        """Seconds until the next is due; None when none is waiting."""
        return max(0.0, self._answers[0][0] - time.monotonic()) if self._answers else None

    def send_due(self) -> None:
        """Sends those that are due; the connection of a client that left is found when it is read."""
        while self._answers and self._answers[0][0] <= time.monotonic():
            _, stream, pieces = self._answers.popleft()
            with contextlib.suppress(OSError):
                stream.sendall(b"".join(pieces))


class Connection:
    """A kept connection, and what has come of the next request."""

    def __init__(self, stream: socket.socket, waiting: Waiting) -> None:
        """Takes over what was accepted."""
        self.stream = stream
        self._waiting = waiting
        self._received = b""

    def serve(self) -> bool:
        """Reads, and responds to a complete request. Returns whether the client is still connected."""
        try:
            chunk = self.stream.recv(65_536)
            self._received += chunk
            head, end, body = self._received.partition(b"\r\n\r\n")
            if end and len(body) >= int(head.lower().partition(b"content-length:")[2].split(maxsplit=1)[0]):
                self._received = b""
                name = head.split(b"/", 2)[1].decode()
                if name.startswith(LATER):
                    self._waiting.add(self.stream, answer(name.removeprefix(LATER)))
                    return True
                pieces = answer(name)
                if len(pieces) == 1:
                    self.stream.sendall(pieces[0])
                else:
                    threading.Thread(target=self._send, args=[pieces], daemon=True).start()
        except OSError:
            return False
        return bool(chunk)

    def _send(self, pieces: list[bytes]) -> None:
        """Sends a large response in a thread of its own: a client that reads it later must not delay the others."""
        with contextlib.suppress(OSError):
            for piece in pieces:
                self.stream.sendall(piece)


def serve(plain: socket.socket, secured: socket.socket, tls: ssl.SSLContext) -> None:
    """Serves small responses one after the other, in one thread: no time goes into handing over."""
    waiting = Waiting()
    with Selector() as selector:
        selector.register(plain, selectors.EVENT_READ)
        selector.register(secured, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(waiting.until_due()):
                if isinstance(key.data, Connection):
                    if not key.data.serve():
                        selector.unregister(key.data.stream)
                        key.data.stream.close()
                    continue
                stream, _address = (plain if key.fileobj is plain else secured).accept()
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if key.fileobj is secured:
                    # The first read shakes hands, where a client that does not trust us is one that left.
                    stream = tls.wrap_socket(stream, server_side=True, do_handshake_on_connect=False)
                selector.register(stream, selectors.EVENT_READ, Connection(stream, waiting))
            waiting.send_due()


def main(ca_bundle: Path, own_cores: list[int]) -> None:
    """Serves on two ports of this machine, plain and by TLS; the authority to trust goes into a file."""
    cores.keep_to(own_cores)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(ca_bundle))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    plain, secured = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    threading.Thread(target=serve, args=(plain, secured, tls), daemon=True).start()
    print(json.dumps([plain.getsockname()[1], secured.getsockname()[1]]), flush=True)
    sys.stdin.read()


class PrebuiltServer:
    """The server as its clients see it."""

    def __init__(self) -> None:
        """Starts it and waits until it serves."""
        self._folder = tempfile.TemporaryDirectory()
        self.ca_bundle = Path(self._folder.name) / "ca.pem"
        self._process = subprocess.Popen(  # noqa: S603 - this very file
            [sys.executable, __file__, str(self.ca_bundle), *map(str, cores.SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the server of the answers did not start")
        self._plain, self._secured = json.loads(line)

    def url(self, name: str, *, secured: bool = False) -> str:
        """The base address under which the response of that name is found."""
        scheme, port = ("https", self._secured) if secured else ("http", self._plain)
        return f"{scheme}://127.0.0.1:{port}/{name}"

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self._process.communicate(timeout=30)
        self._folder.cleanup()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(core) for core in sys.argv[2:]])
