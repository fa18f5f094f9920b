"""Where operators write: object stores with the identity of an Airflow connection, and absolute paths."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import airflow.providers
import pytest
from airflow.sdk import DAG, Asset, ObjectStoragePath
from dags import NO_DOUBTS, extras, run, tries
from support.objects import Request, Store, error

import dataaccess as da
from dataaccess.airflow import (
    DataAccessScanOperator,
    DataAccessSearchOperator,
)
from dataaccess.airflow.compat import exceptions
from dataaccess.airflow.stores import located

ON_15 = da.on("2024-01-15")
WEEK = da.days("2024-01-08", "2024-01-15")


@pytest.fixture(autouse=True)
def machine(connect: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A connection to the service, and a worker with credentials of its own."""
    connect()
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    credentials = tmp_path / "credentials"
    credentials.write_text("[etl]\naws_access_key_id = of-the-profile\naws_secret_access_key = secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-machine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def aws(connect: Callable[..., str], store: Store) -> Callable[..., None]:
    """Sets the connection `aws` to the S3 server."""

    def aws(login: str | None = None, **extra: Any) -> None:
        extra = {"endpoint_url": store.endpoint, "region_name": "us-east-1", **extra}
        password = None if login is None else "secret"
        connect("aws", conn_type="aws", host=None, login=login, password=password, extra=extra)

    return aws


def key_of(request: Request) -> str:
    found = re.search("Credential=([^/]+)/", request.headers["authorization"])
    assert found
    return found[1]


def keys_of(store: Store) -> set[str]:
    """The access keys with which the objects of the bucket were requested."""
    return {key_of(request) for request in store.requests if request.path.startswith(f"/{store.bucket}")}


def options_of(place: Any) -> dict[str, str]:
    options = located(place)[1]
    assert options is not None
    return options.options


ROLE = "arn:aws:iam::123456789012:role/writer"
# What a connection has, and the key that signs then; None is one that STS made.
IDENTITIES: dict[str, tuple[str | None, dict[str, Any], str | None]] = {
    "login": ("of-the-login", {}, "of-the-login"),
    "extra": (None, {"aws_access_key_id": "of-the-extra", "aws_secret_access_key": "secret"}, "of-the-extra"),
    "profile": (None, {"profile_name": "etl"}, "of-the-profile"),
    "role": ("of-the-login", {"role_arn": ROLE}, None),
    "nothing": (None, {}, "of-the-machine"),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_every_operator_writes_as_the_connection_says(
    dag: DAG, name: str, aws: Callable[..., None], store: Store
) -> None:
    login, extra, key = IDENTITIES[name]
    # The endpoint of S3 alone, and that of STS, which the common endpoint is not for.
    endpoints = {service: {"endpoint_url": store.endpoint} for service in ("s3", "sts")}
    aws(login, **extra, endpoint_url="http://127.0.0.1:1", service_config=endpoints)
    bucket = f"s3://aws@{store.bucket}"
    with dag:
        DataAccessScanOperator(task_id="scan", folder=f"{bucket}/scan", allocated_time=WEEK, attrs=["id"])
        for path in (f"{bucket}/codes.parquet", ObjectStoragePath(f"{bucket}/{{{{ params.name }}}}.jsonl.gz")):
            suffix = str(path).rpartition(".")[2]
            DataAccessSearchOperator(
                task_id=suffix, path=path, allocated_time=ON_15, attrs=["id"], outlets=[Asset(suffix)]
            )
    done = run(dag)

    assert set(done.states.values()) == {"success"}
    signed_by = keys_of(store)
    assert signed_by == {key} if key else all(found.startswith("ASIA") for found in signed_by)
    assumed = [key_of(request) for request in store.requests if request.path == "/"]
    assert set(assumed) == (set() if key else {"of-the-login"})
    has_token = {"x-amz-security-token" in request.headers for request in store.requests if request.path != "/"}
    assert has_token == {key is None}

    days = [f"scan/day=2024-01-{day:02}/part-0.parquet" for day in range(8, 15)]
    assert store.names() == ["codes.jsonl.gz", "codes.parquet", *days]
    assert done.result("scan")["folder"] == f"s3://{store.bucket}/scan"
    for task, file in (("parquet", "codes.parquet"), ("gz", "codes.jsonl.gz")):
        written = {"path": f"s3://{store.bucket}/{file}", "rows": 73, **NO_DOUBTS}
        assert done.result(task) == extras(task) == written


def test_a_retry_gets_new_credentials_of_a_role_and_keeps_what_is_done(
    dag: DAG, aws: Callable[..., None], connect: Callable[..., str], store: Store
) -> None:
    connect(extra={"concurrency": 1})
    aws("of-the-login", role_arn=ROLE, service_config={"sts": {"endpoint_url": store.endpoint}})
    expired: set[str] = set()

    def expire(request: Request) -> tuple[int, str] | None:
        if "2024-01-11" in request.path and not expired:
            expired.add(key_of(request))
        # The lock would outlive its run by two minutes otherwise, for which no test waits.
        if key_of(request) in expired and "part-0" in request.path:
            return 403, error("ExpiredToken")
        return None

    store.hook = expire
    with dag:
        DataAccessScanOperator(
            task_id="week",
            folder=f"s3://aws@{store.bucket}/codes",
            allocated_time=WEEK,
            attrs=["id"],
            retries=1,
        )
    done = run(dag)
    assert (done.states, tries(done, "week")) == ({"week": "success"}, 2)
    result = done.result("week")
    assert result["kept"] > 0
    assert (result["new"] + result["kept"], len(keys_of(store))) == (7, 2)


@pytest.mark.parametrize(
    "url",
    [
        "s3a://warehouse/a@b",
        "gs://warehouse/codes",
        "abfss://container@account.dfs.core.windows.net/codes",
        "/warehouse/a@b",
    ],
)
def test_a_place_without_a_connection_stays_as_it_is(url: str) -> None:
    assert located(url) == (url, None)
    if "@account" not in url:
        assert located(ObjectStoragePath(url)) == (url, None)


KEY = base64.b64encode(b"key-of-test").decode()
AZURE = {"host": None, "login": "account", "password": KEY}
# The connection, the place, and the error.
REFUSED: dict[str, tuple[dict[str, Any], Any, str]] = {
    **{
        name: ({"conn_type": "aws", "extra": extra}, "s3://given@box/codes.parquet", rf"'given' \w+ {key}")
        for name, extra, key in (
            ("misspelled", {"rolearn": ROLE}, "rolearn"),
            ("verification", {"verify": False}, "verify"),
            ("acceleration", {"config_kwargs": {"s3": {"use_accelerate_endpoint": True}}}, "config_kwargs.s3.use_acc"),
            ("retries", {"config_kwargs": {"retries": {"max_attempts": 9}}}, "config_kwargs.retries"),
            ("signer", {"service_config": {"s3": {"signer": "S3V4RestSigner"}}}, "service_config.s3.signer"),
        )
    },
    "azure": (
        {"conn_type": "wasb", **AZURE, "extra": {"connection_string": "x", "password": "x"}},
        ObjectStoragePath("az://container/codes.parquet", conn_id="given"),
        r"'given' \w+ connection_string, password, ",
    ),
    "google": (
        {"conn_type": "google_cloud_platform", "extra": {"key_path": "/k", "impersonation_chain": "x"}},
        "gs://given@box/codes.parquet",
        r"\bimpersonation_chain, .*\bapache-airflow-providers-google\b",
    ),
    "other type": ({"conn_type": "smtp"}, "s3://given@box/codes.parquet", r"path\b.*'given'.*'smtp'.*\bs3://"),
    "password": ({}, "s3://key:hidden@box/codes.parquet", "`s3://…@box/codes.parquet`(?!.*hidden)"),
    "container": ({}, "abfss://azure@container/codes.parquet", r"conn_id='azure'\)$"),
    "kind": ({}, "sftp://host/codes.parquet", r"file://.*\bs3://.*\bgs://.*\baz://"),
    "relative": ({}, "codes.parquet", r"path: 'codes\.parquet' "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused_in_words_and_not_retried(
    name: str, connect: Callable[..., str], sandbox: da.Sandbox
) -> None:
    fields, place, message = REFUSED[name]
    connect("given", **{"conn_type": "aws", "host": None, "password": "secret", "login": "key", **fields})
    search = DataAccessSearchOperator(task_id="search", path=place, allocated_time=ON_15, attrs=["id"])
    with pytest.raises(exceptions.AirflowFailException, match=message) as caught:
        search.execute({})
    assert "hidden" not in str(caught.value)
    assert sandbox.requests == []


def test_without_the_provider_the_package_is_named(
    aws: Callable[..., None], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws("of-the-login")
    monkeypatch.setitem(sys.modules, "airflow.providers.amazon", None)
    with pytest.raises(da.ConfigError, match=r"'aws' .*\bapache-airflow-providers-amazon\b"):
        located(f"s3://aws@{store.bucket}/codes")


def test_the_config_of_the_connection_is_followed(aws: Callable[..., None], store: Store) -> None:
    def options(**extra: Any) -> dict[str, str]:
        aws("of-the-login", **extra)
        return options_of("s3://aws@warehouse/codes")

    given = {
        "aws_access_key_id": "of-the-login",
        "aws_secret_access_key": "secret",
        "aws_region": "us-east-1",
        "aws_endpoint_url": store.endpoint,
        "aws_allow_http": "true",
    }
    assert options() == given
    proxies = {"http": "http://proxy.example:3128"}
    assert options(config_kwargs={"proxies": proxies}) == {**given, "aws_proxy_url": proxies["http"]}
    virtual = {"config_kwargs": {"s3": {"addressing_style": "virtual"}}}
    named = {**given, "aws_virtual_hosted_style_request": "true", "aws_endpoint_url": "https://warehouse.store.example"}
    del named["aws_allow_http"]
    assert options(endpoint_url="https://store.example", **virtual) == named
    # The endpoints of Amazon are the store's own, but where they have another name.
    assert "aws_endpoint_url" not in options(endpoint_url=None, region_name="eu-west-1")
    assert options(endpoint_url=None, region_name="cn-north-1")["aws_endpoint_url"].endswith(".amazonaws.com.cn")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"extra": {"shared_access_key": KEY}, "password": "other"}, {"storage_account_key": KEY}),
        ({"extra": {"sas_token": "?sv=1"}, "login": None, "password": None}, {"storage_sas_token": "sv=1"}),
        (
            {"host": "https://account.blob.core.windows.net/", "login": "id", "extra": {"tenant_id": "tenant"}},
            {"tenant_id": "tenant", "client_id": "id", "client_secret": KEY},
        ),
        (
            {"login": None, "password": None, "extra": {"managed_identity_client_id": "id"}},
            {"client_id": "id"},
        ),
    ],
    ids=["key", "token", "principal", "identity"],
)
def test_an_azure_connection_becomes_options(
    fields: dict[str, Any], expected: dict[str, str], connect: Callable[..., str]
) -> None:
    connect("azure", conn_type="wasb", **{**AZURE, "host": "account.blob.core.windows.net", **fields})
    found = options_of(ObjectStoragePath("abfss://container/codes", conn_id="azure"))
    assert found == {f"azure_{name}": value for name, value in {"storage_account_name": "account", **expected}.items()}


def test_azure_and_google_get_the_credentials_of_their_connections(
    dag: DAG, connect: Callable[..., str], store: Store
) -> None:
    store.hook = lambda _request: (404, error("Nothing"))
    connect("azure", conn_type="wasb", host=f"{store.endpoint}/account", login="account", password=KEY)
    key = {
        "gcs_base_url": store.endpoint,
        "disable_oauth": True,
        "client_email": "etl@example.com",
        "private_key": "none",
        "private_key_id": "none",
    }
    extra = {"keyfile_dict": json.dumps(key), "project": "warehouse", "num_retries": 5, "is_anonymous": False}
    connect("google", conn_type="google_cloud_platform", host=None, password=None, extra=extra)
    with dag:
        DataAccessScanOperator(
            task_id="azure", folder=ObjectStoragePath("az://box/codes", conn_id="azure"), allocated_time=WEEK
        )
        DataAccessScanOperator(task_id="google", folder="gs://google@box/codes", allocated_time=WEEK)
    run(dag)
    # The key of Google names the server, and that it takes no token.
    sent = {request.path: request.headers.get("authorization", "").partition(":")[0] for request in store.requests}
    assert sent == {"/account/box": "SharedKey account", "/box": ""}


HOOK = """
class Credentials:
    token = None

    def refresh(self, request):
        self.token = "token-of-" + type(request).__module__


class GoogleBaseHook:
    def __init__(self, gcp_conn_id):
        assert gcp_conn_id == "google"

    def get_credentials(self):
        return Credentials()
"""


def test_other_google_connections_use_their_hook(
    connect: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def options(**extra: Any) -> dict[str, str] | None:
        connect("google", conn_type="google_cloud_platform", host=None, password=None, extra=extra)
        return options_of("gs://google@warehouse/codes")

    assert options() == options(project="warehouse") == {}
    assert options(key_path="/key.json") == {"google_service_account": "/key.json"}
    # The classes of the provider and of google-auth, which are too large for these tests.
    for name, text in (
        ("providers/google/common/hooks/base_google.py", HOOK),
        ("google/auth/transport/requests.py", "class Request: pass"),
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    monkeypatch.setattr(airflow.providers, "__path__", [*airflow.providers.__path__, str(tmp_path / "providers")])
    monkeypatch.syspath_prepend(tmp_path)
    expected = {"google_bearer_token": "token-of-google.auth.transport.requests"}
    assert options(key_path="/key.json", impersonation_chain="etl@example.com") == expected
