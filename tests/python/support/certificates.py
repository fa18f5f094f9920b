"""Certificates of a private authority, good ones and such as must be refused; contexts of servers that have them."""

from __future__ import annotations

import datetime as dt
import ssl
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
