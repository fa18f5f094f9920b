"""Certificates of a private authority, good ones and such as must be refused; contexts of servers that have them."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


def context(certificate: trustme.LeafCert, ciphers: str | None = None, **settings: Any) -> ssl.SSLContext:
    """A server's side of TLS; the settings are attributes of the context."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if ciphers is not None:
        made.set_ciphers(ciphers)
    with warnings.catch_warnings():
        # TLS 1.1 is deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        for name, value in settings.items():
            setattr(made, name, value)
    certificate.configure_cert(made)
    return made


def leaf(
    issuer: trustme.CA | trustme.LeafCert | None,
    *extensions: x509.ExtensionType,
    names: tuple[str, ...] = ("localhost",),
    weak: bool = False,
) -> trustme.LeafCert:
    """A certificate that `trustme` would not issue; without an issuer it is its own."""
    key: Any = ec.generate_private_key(ec.SECP256R1())
    if weak:
        key = rsa.generate_private_key(65537, 1024)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    issuer_name, issuer_key = name, key
    if issuer is not None:
        shown = issuer.cert_pem if isinstance(issuer, trustme.CA) else issuer.cert_chain_pems[0]
        issuer_name = x509.load_pem_x509_certificate(shown.bytes()).subject
        issuer_key = serialization.load_pem_private_key(issuer.private_key_pem.bytes(), None)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer_name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + DAY)
    )
    if names:
        alternative = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        builder = builder.add_extension(alternative, critical=False)
    for extension in extensions:
        builder = builder.add_extension(extension, critical=True)
    made = builder.sign(issuer_key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return trustme.LeafCert(plain, made.public_bytes(pem), [])


FOR_CLIENTS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
FOR_SERVERS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
AN_AUTHORITY = x509.BasicConstraints(ca=True, path_length=0)
ANY_CIPHER = "ALL:@SECLEVEL=0"


def without_chain(authority: trustme.CA) -> trustme.LeafCert:
    """Of an authority between, which the server does not show."""
    issued = authority.create_child_ca().issue_cert("localhost")
    return trustme.LeafCert(issued.private_key_pem.bytes(), issued.cert_chain_pems[0].bytes(), [])


def by_a_leaf(authority: trustme.CA) -> trustme.LeafCert:
    """Of somebody who was never made an authority."""
    issued = authority.issue_cert("localhost")
    made = leaf(issued, FOR_SERVERS)
    chain = [issued.cert_chain_pems[0].bytes()]
    return trustme.LeafCert(made.private_key_pem.bytes(), made.cert_chain_pems[0].bytes(), chain)


Server = Callable[[trustme.CA], ssl.SSLContext]

# Servers that are refused, and the reported reasons, by the ids of the faults.
CASES: dict[str, tuple[Server, str]] = {
    "C6-unknown-authority": (lambda _: context(trustme.CA().issue_cert("localhost")), "unknown issuer"),
    "C6-self-signed": (lambda _: context(leaf(None, FOR_SERVERS)), "unknown issuer"),
    "C6-an-authority-as-server": (lambda ca: context(leaf(ca, AN_AUTHORITY)), "bad certificate"),
    "C6-authority-between-not-shown": (lambda ca: context(without_chain(ca)), "unknown issuer"),
    "C6-signed-by-no-authority": (lambda ca: context(by_a_leaf(ca)), "bad certificate"),
    "C6-another-name": (lambda ca: context(ca.issue_cert("other.example.com")), "wrong name"),
    "C6-an-address-instead-of-the-name": (lambda ca: context(ca.issue_cert("127.0.0.1")), "wrong name"),
    "C6-no-name-but-the-common-one": (lambda ca: context(leaf(ca, FOR_SERVERS, names=())), "wrong name"),
    "C6-expired": (lambda ca: context(ca.issue_cert("localhost", not_after=NOW - DAY)), "expired"),
    "C6-not-yet-valid": (lambda ca: context(ca.issue_cert("localhost", not_before=NOW + DAY)), "not yet valid"),
    "C6-for-clients": (lambda ca: context(leaf(ca, FOR_CLIENTS)), "bad certificate"),
    "C6-a-weak-key": (lambda ca: context(leaf(ca, FOR_SERVERS, weak=True), ANY_CIPHER), "bad certificate"),
    "C6-tls-1.1-only": (
        lambda ca: context(ca.issue_cert("localhost"), ANY_CIPHER, maximum_version=ssl.TLSVersion.TLSv1_1),
        "version",
    ),
    "C6-no-cipher-that-is-safe": (
        lambda ca: context(
            ca.issue_cert("localhost"), "AES128-SHA:@SECLEVEL=0", maximum_version=ssl.TLSVersion.TLSv1_2
        ),
        "refused",
    ),
    "C6-wants-a-certificate-of-ours": (
        lambda ca: context(ca.issue_cert("localhost"), verify_mode=ssl.CERT_REQUIRED),
        "client certificate",
    ),
    "C6-wants-one-in-tls-1.2": (
        lambda ca: context(
            ca.issue_cert("localhost"), verify_mode=ssl.CERT_REQUIRED, maximum_version=ssl.TLSVersion.TLSv1_2
        ),
        "refused",
    ),
}


@contextmanager
def speaking(greeting: bytes) -> Iterator[int]:
    """Says the same to everyone who says something; gives its port."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with suppress(OSError), connection:
                    connection.recv(65536)
                    connection.sendall(greeting)
                    connection.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
