"""URLs of object stores and `storage_options=`: what is accepted, and which store is asked with which credentials."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from support.objects import Store
from support.runs import by_day
from support.service_machine import locals_of_package

import dataaccess as da

AZURE = {
    "azure_storage_account_key": base64.b64encode(b"key-of-test").decode(),
    "azure_storage_endpoint": "URL",
    "azure_allow_http": "true",
}
S3 = {
    "aws_access_key_id": "key-of-test",
    "aws_secret_access_key": "x",
    "aws_endpoint_url": "URL",
    "aws_allow_http": "true",
}
# The URL of a folder, options, and how the authorization of a request begins.
STORES: dict[str, tuple[str, dict[str, str], str]] = {
    "s3": ("s3://box/codes", S3, "AWS4-HMAC-SHA256 Credential=key-of-test/"),
    "gs": ("gs://box/codes", {"google_bearer_token": "tok-of-test", "google_base_url": "URL"}, "Bearer tok-of-test"),
    "az": (
        "az://box/codes",
        AZURE | {"azure_storage_account_name": "account-of-test"},
        "SharedKey account-of-test:",
    ),
    "wasbs": ("wasbs://box@account.blob.core.windows.net/codes", AZURE, "SharedKey account:"),
}


@pytest.mark.parametrize("scheme", STORES)
@pytest.mark.parametrize("by", ["options", "environment"])
def test_the_store_of_a_url_gets_its_credentials(
    client: da.Client, store: Store, scheme: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, options, authorization = STORES[scheme]
    options = {name: store.endpoint if value == "URL" else value for name, value in options.items()}
    store.hook = lambda _request: (404, "<Error><Code>Nothing</Code></Error>")
    if by == "environment":
        for name, value in options.items():
            monkeypatch.setenv(name.upper(), value)
    with pytest.raises(da.FileError, match=r"\(Nothing\)") as caught:
        by_day(client).to_folder(url, storage_options=options if by == "options" else None)
    assert caught.value.path == url
    assert store.requests[0].path == "/box"
    assert "codes" in store.requests[0].query
    assert store.requests[0].headers["authorization"].startswith(authorization)


def crc64nvme(content: bytes) -> int:
    checksum = 2**64 - 1
    for byte in content:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0x9A6C9329AC4BC9B5 if checksum & 1 else 0)
    return checksum ^ (2**64 - 1)


def test_an_upload_has_the_checksum_that_was_asked_for(client: da.Client, store: Store) -> None:
    assert crc64nvme(b"123456789") == 0xAE8B14860A799888
    options = {**store.options, "aws_checksum_algorithm": "crc64nvme"}
    by_day(client).to_csv(store.url("codes.csv"), storage_options=options)
    sent = [request.headers[name] for request in store.requests for name in request.headers if "crc64nvme" in name]
    assert sent == [base64.b64encode(crc64nvme(store.get("codes.csv")).to_bytes(8, "big")).decode()]


@pytest.mark.parametrize("options", [{"aws_secret_access_key": "hunter2", "aws_allow_http": True}, ["hunter2"]])
def test_no_frame_of_an_error_has_an_option(client: da.Client, options: Any) -> None:
    with pytest.raises(TypeError) as caught:
        by_day(client).to_folder("s3://bucket/codes", storage_options=options)
    shown = locals_of_package(caught.value)
    assert shown
    assert "hunter2" not in repr(shown)
