"""Options of object stores from Airflow connections.

Each store has one function. A key that it cannot follow is an error: a file must not be written with another identity,
or into another store, than the connection says. Tools that collect errors send the locals of frames: no function has a
secret in a local while it can raise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Options = dict[str, str]


class StoreConnection(Protocol):
    """What is read of an Airflow connection."""

    conn_id: str
    conn_type: str | None
    host: str | None
    login: str | None
    password: str | None
    schema: str | None
    port: int | None

    @property
    def extra_dejson(self) -> dict[str, Any]:
        """The keys of `extra`."""


# Keys of an AWS connection that its hook reads. It ignores others, as a misspelled `role_arn`.
_OF_AWS_HOOK = {
    "assume_role_kwargs",
    "assume_role_method",
    "assume_role_with_saml",
    "assume_role_with_web_identity_federation",
    "assume_role_with_web_identity_federation_audience",
    "assume_role_with_web_identity_token_file",
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "config_kwargs",
    "endpoint_url",
    "profile_name",
    "region_name",
    "role_arn",
    "service_config",
    "session_kwargs",
    "verify",
}
# Keys of `config_kwargs` that change how boto3 sends its requests, and not where to or as whom.
_OF_BOTO3 = {
    "connect_timeout",
    "max_pool_connections",
    "parameter_validation",
    "read_timeout",
    "request_checksum_calculation",
    "response_checksum_validation",
    "retries",
    "tcp_keepalive",
    "user_agent",
    "user_agent_appid",
    "user_agent_extra",
}
# Keys of `service_config.s3` for copies and for callers that name no bucket.
_OF_S3_HOOK = {"bucket_name", "transfer_config_args"}


def of_aws(connection: StoreConnection, url: str) -> Options:
    """The options of S3: session, endpoint and config of the hook of the Amazon provider, or the keys without it."""
    if find_spec("airflow.providers.amazon") is None:
        return _of_aws_keys(connection)
    from airflow.providers.amazon.aws.hooks.base_aws import AwsBaseHook

    hook = AwsBaseHook(aws_conn_id=connection.conn_id, client_type="s3")
    endpoint = hook.conn_config.get_service_endpoint_url("s3")
    _refuse(connection, _unfit_of_aws(connection), "cannot be followed")
    session = hook.get_session()
    # Sends nothing, and resolves what profiles and the environment add.
    client = session.client("s3", endpoint_url=endpoint, config=hook.config)
    config = client.meta.config
    options = {"aws_region": hook.config.region_name or session.region_name or ""}
    address = urlsplit(client.meta.endpoint_url)
    is_virtual = (config.s3 or {}).get("addressing_style") == "virtual"
    if address.netloc not in ("s3.amazonaws.com", f"s3.{client.meta.region_name}.amazonaws.com"):
        bucket = f"{urlsplit(url).netloc}." if is_virtual else ""
        options["aws_endpoint_url"] = f"{address.scheme}://{bucket}{address.netloc}{address.path}"
    options["aws_virtual_hosted_style_request"] = "true" if is_virtual else ""
    frozen = None
    if config.signature_version not in (None, "s3", "s3v4"):
        # The sentinel of botocore for no signature.
        options["aws_skip_signature"] = "true"
    elif credentials := session.get_credentials():
        frozen = credentials.get_frozen_credentials()
    if frozen is not None:
        options |= {
            "aws_access_key_id": frozen.access_key,
            "aws_secret_access_key": frozen.secret_key,
            "aws_session_token": frozen.token or "",
        }
    options["aws_proxy_url"] = (config.proxies or {}).get(address.scheme, "")
    return _checked(options)


def _unfit_of_aws(connection: StoreConnection) -> list[str]:
    """The keys that cannot be followed."""
    extra = connection.extra_dejson
    config, service = extra.get("config_kwargs") or {}, (extra.get("service_config") or {}).get("s3") or {}
    followed = {"region_name", "proxies", "s3", "signature_version"}
    unfit = [*_given(connection).keys() - _OF_AWS_HOOK]
    unfit += [f"config_kwargs.{key}" for key in config.keys() - _OF_BOTO3 - followed]
    unfit += [f"config_kwargs.s3.{key}" for key in (config.get("s3") or {}).keys() - {"addressing_style"}]
    unfit += [f"service_config.s3.{key}" for key in service.keys() - _OF_S3_HOOK - {"endpoint_url"}]
    if config.get("signature_version") not in (None, "s3v4", "unsigned"):
        unfit.append("config_kwargs.signature_version")
    if extra.get("verify") not in (None, "", True):
        unfit.append("verify (certificates are checked, with the CAs of the system or of SSL_CERT_FILE)")
    return unfit


# Keys of an AWS connection that need no provider, and the options that they are.
_AWS_KEYS = {
    "aws_access_key_id": "aws_access_key_id",
    "aws_secret_access_key": "aws_secret_access_key",
    "aws_session_token": "aws_session_token",
    "region_name": "aws_region",
    "endpoint_url": "aws_endpoint_url",
}


def _of_aws_keys(connection: StoreConnection) -> Options:
    unfit = [*_given(connection).keys() - _AWS_KEYS, *_fields(connection, "host", "schema", "port")]
    _refuse(connection, unfit, "cannot be followed without the package apache-airflow-providers-amazon")
    extra = _given(connection)
    if connection.login:
        extra |= {"aws_access_key_id": connection.login, "aws_secret_access_key": connection.password or ""}
    return _checked({_AWS_KEYS[key]: str(value) for key, value in extra.items()})


def of_google(connection: StoreConnection, url: str) -> Options:
    """The options of Google Cloud Storage: its key file, or a token of the hook of the Google provider."""
    prefix = "extra__google_cloud_platform__"
    # The project and the retries of its own client have no effect on an object. A form has a box that is not checked.
    unused = {"project", "num_retries", "" if _given(connection, prefix).get("is_anonymous") else "is_anonymous"}
    keys = _given(connection, prefix).keys() - unused
    if not keys:
        # The credentials of the worker, as in the hook.
        return {}
    if keys == {"keyfile_dict"}:
        key = _given(connection, prefix)["keyfile_dict"]
        return {"google_service_account_key": key if isinstance(key, str) else json.dumps(key)}
    if keys == {"key_path"}:
        return {"google_service_account": str(_given(connection, prefix)["key_path"])}
    if find_spec("airflow.providers.google") is None:
        unfit = keys - {"keyfile_dict", "key_path"} or keys
        _refuse(connection, unfit, "cannot be followed without the package apache-airflow-providers-google")
    from airflow.providers.google.common.hooks.base_google import GoogleBaseHook
    from google.auth.transport.requests import Request

    credentials = GoogleBaseHook(gcp_conn_id=connection.conn_id).get_credentials()
    credentials.refresh(Request())
    return {"google_bearer_token": credentials.token}


# Credentials of an Azure connection but a service principal; the first is used.
_AZURE_CREDENTIALS = {
    "shared_access_key": "azure_storage_account_key",
    "sas_token": "azure_storage_sas_token",
    "password": "azure_storage_account_key",
    "account_key": "azure_storage_account_key",
    "managed_identity_client_id": "azure_client_id",
}


def of_azure(connection: StoreConnection, url: str) -> Options:
    """The options of Azure Blob Storage: the first credential of the connection, in the order of its hook.

    The store renews the tokens of a service principal and of a managed identity, so the hook is not needed.
    """
    prefix = f"extra__{connection.conn_type}__"
    known = {"account_name", "tenant_id", *_AZURE_CREDENTIALS} - {"password"}
    unfit = [*_given(connection, prefix).keys() - known, *_fields(connection, "schema", "port")]
    _refuse(connection, unfit, "cannot be followed")
    given = connection.host or ""
    host = urlsplit(given if "://" in given else f"https://{given}")
    account, has_domain, domain = host.netloc.partition(".")
    options: Options = {}
    if has_domain and domain not in ("blob.core.windows.net", "dfs.core.windows.net"):
        options["azure_storage_endpoint"] = f"{host.scheme}://{host.netloc}{host.path.rstrip('/')}"
    extra = {**_given(connection, prefix), "password": connection.password or ""}
    if "tenant_id" in extra:
        # Login and password are of the service principal.
        options["azure_storage_account_name"] = extra.get("account_name", account)
        options["azure_tenant_id"] = extra["tenant_id"]
        options["azure_client_id"] = connection.login or ""
        options["azure_client_secret"] = extra["password"]
        return _checked(options)
    options["azure_storage_account_name"] = extra.get("account_name") or connection.login or account
    if key := next((key for key in _AZURE_CREDENTIALS if extra.get(key)), None):
        # A SAS token may be a URL, whose query it is.
        options[_AZURE_CREDENTIALS[key]] = str(extra[key]).rpartition("?")[2] if key == "sas_token" else str(extra[key])
    return _checked(options)


def _given(connection: StoreConnection, prefix: str = "") -> dict[str, Any]:
    """The keys of `extra` that have a value: a form leaves the others empty."""
    extra = connection.extra_dejson.items()
    return {key.removeprefix(prefix): value for key, value in extra if value not in (None, "", {})}


def _fields(connection: StoreConnection, *names: str) -> list[str]:
    return [name for name in names if getattr(connection, name)]


def _refuse(connection: StoreConnection, keys: Iterable[str], reason: str) -> None:
    if named := ", ".join(sorted(keys)):
        raise ConfigError(f"the Airflow connection {connection.conn_id!r} has {named}, which {reason}")


def _checked(options: Options) -> Options:
    """The options that have a value. The owner of the connection permits an endpoint without TLS by naming it."""
    given = {name: value for name, value in options.items() if value}
    for name, value in options.items():
        if name.endswith(("endpoint", "endpoint_url")) and value.startswith("http://"):
            given[f"{name.partition('_')[0]}_allow_http"] = "true"
    return given


@dataclass(frozen=True)
class Store:
    """An object store, by the schemes of its URLs.

    Attributes:
        conn_types: Types of its connections.
        options: What a connection says for a URL.
        has_containers: Whether the text before `@` in its URLs is a container.
    """

    conn_types: tuple[str, ...]
    options: Callable[[StoreConnection, str], Options]
    has_containers: bool = False


_AZURE = Store(("wasb", "adls"), of_azure, has_containers=True)
STORES = {
    **dict.fromkeys(("s3", "s3a"), Store(("aws",), of_aws)),
    "gs": Store(("google_cloud_platform",), of_google),
    **dict.fromkeys(("az", "azure", "abfs", "abfss", "wasb", "wasbs"), _AZURE),
}
