"""A server that sends prebuilt responses from its memory over kept-alive connections, so that it costs next to nothing.

As a program it prints its ports as JSON and serves until its input ends. The first part of the path names the response:
`/1000000/…` has a million records, and `/gzip-1000000/…` the same records compressed. `PrebuiltServer` starts the
program.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import selectors
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Self

import records
import trustme

CORES = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
CLIENT_CORES, SERVER_CORES = CORES[:1], CORES[-1:]


def keep_to(cores: list[int]) -> None:
    """Keeps this process to some cores, where the system can: client and server must not share a core."""
    if sys.platform == "linux":
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)


@functools.cache
def response(name: str) -> list[bytes]:
    """The pieces of the response of a name, with its head. A repeated block is in memory once."""
    form, _, count = name.rpartition("-")
    pieces = list(records.response(int(count)))
    encoding = ""
    if form == "gzip":
        # The level of a service in a hurry.
        press = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16)
        pieces, encoding = [b"".join([*map(press.compress, pieces), press.flush()])], "Content-Encoding: gzip\r\n"
    length = sum(map(len, pieces))
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{encoding}Content-Length: {length}\r\n\r\n".encode()
    # A small response is one write, and so one packet.
    return [head, *pieces] if length > 65_536 else [b"".join([head, *pieces])]


def send(stream: socket.socket, pieces: list[bytes]) -> None:
    with contextlib.suppress(OSError):
        for piece in pieces:
            stream.sendall(piece)


def is_served(stream: socket.socket, received: bytearray) -> bool:
    """Reads, and responds to a complete request. Returns whether the client is still connected."""
    try:
        chunk = stream.recv(65_536)
    except OSError:
        return False
    received += chunk
    head, end, body = received.partition(b"\r\n\r\n")
    if end and len(body) >= int(head.lower().partition(b"content-length:")[2].split(maxsplit=1)[0]):
        received.clear()
        pieces = response(head.split(b"/", 2)[1].decode())
        if len(pieces) == 1:
            send(stream, pieces)
        else:
            # In a thread of its own: a slow reader must not delay other clients.
            threading.Thread(target=send, args=(stream, pieces), daemon=True).start()
    return bool(chunk)


def serve(plain: socket.socket, secured: socket.socket, tls: ssl.SSLContext) -> None:
    """Serves all connections in one thread: a small response needs no switch of threads."""
    with selectors.DefaultSelector() as selector:
        selector.register(plain, selectors.EVENT_READ)
        selector.register(secured, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                stream = key.fileobj
                assert isinstance(stream, socket.socket)
                if stream in {plain, secured}:
                    accepted, _address = stream.accept()
                    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    if stream is secured:
                        # The handshake is part of the first read, which may fail.
                        accepted = tls.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
                    selector.register(accepted, selectors.EVENT_READ, bytearray())
                elif not is_served(stream, key.data):
                    selector.unregister(stream)
                    stream.close()


def main(ca_bundle: Path, cores: list[int]) -> None:
    """Serves on two ports, plain and with TLS, and writes the certificate of its CA into a file."""
    keep_to(cores)
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(ca_bundle))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(tls)
    plain, secured = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    threading.Thread(target=serve, args=(plain, secured, tls), daemon=True).start()
    print(json.dumps([plain.getsockname()[1], secured.getsockname()[1]]), flush=True)
    sys.stdin.read()


class PrebuiltServer:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.ca_bundle = Path(self._folder.name) / "ca.pem"
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self.ca_bundle), *map(str, SERVER_CORES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        self._plain, self._secured = json.loads(line)

    def url(self, name: str, *, secured: bool = False) -> str:
        scheme, port = ("https", self._secured) if secured else ("http", self._plain)
        return f"{scheme}://127.0.0.1:{port}/{name}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)
        self._folder.cleanup()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(core) for core in sys.argv[2:]])
