"""Where operators write: a path on the worker, or a URL with the options of its store from an Airflow connection.

A key that cannot be followed is an error: a file must not be written with another identity, or into another store, than
the connection says. Tools that collect errors send the locals of frames: no function has a secret in a local while it
can raise.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from dataaccess._core.checks import invalid
from dataaccess._core.paths import location
from dataaccess._core.secret import Secret, StorageOptions, checked
from dataaccess.airflow.compat import BaseHook, ObjectStoragePath
from dataaccess.errors import ConfigError

Place: TypeAlias = str | os.PathLike[str] | ObjectStoragePath
Options: TypeAlias = dict[str, str]


def located(place: Place, argument: str = "folder") -> tuple[str, StorageOptions | None]:
    """The absolute path or the URL of a folder or file, as other tools read it, and the options of its store.

    The id of an Airflow connection may precede the bucket of S3 and Google, as in `ObjectStoragePath`:
    `s3://aws_default@bucket/codes`. An Azure URL may have its container there, so `conn_id=` of an `ObjectStoragePath`
    names the connection.
    """
    place, conn_id = _split(place, argument)
    target = location(argument, place, None)
    if not is_remote(target) and not Path(target).is_absolute():
        message = "is relative to the folder in which a worker was started: write an absolute path, or a URL"
        raise invalid(argument, f"{shortened(target)} {message}", target)
    if not is_remote(target) or conn_id is None:
        return target, None
    types, options = _STORES[_scheme(target)]
    connection = Secret(BaseHook.get_connection(conn_id))
    if connection.value.conn_type not in types:
        raise ConfigError(
            f"{argument} names the connection {conn_id!r}, which is of the type {connection.value.conn_type!r}; "
            f"{_scheme(target)}:// takes the type {' or '.join(types)}"
        )
    # No frame from here on shows a key.
    return target, checked(StorageOptions(options(connection, target)))


def is_remote(target: str) -> bool:
    """Whether a folder or file is in an object store."""
    return _scheme(target) in _STORES


def _scheme(place: object) -> str:
    scheme, separator, _ = str(place).partition("://")
    return scheme.lower() if separator else ""


def _split(place: Place, argument: str) -> tuple[str | os.PathLike[str], str | None]:
    """The place without the id of a connection, and that id."""
    if isinstance(place, ObjectStoragePath):
        # Before 3.2, the id is among the options of its store.
        conn_id = getattr(place, "conn_id", None) or place.storage_options.get("conn_id")
        is_local = place.protocol in ("", "file", "local")
        return place.path if is_local else f"{place.protocol}://{place.path}", conn_id
    scheme, _, rest = str(place).partition("://")
    authority, slash, name = rest.partition("/")
    before, has_user, bucket = authority.rpartition("@")
    # With a colon it is a key with its secret: the client refuses them, and shows neither.
    if not isinstance(place, str) or not is_remote(place) or not has_user or ":" in before:
        return place, None
    if _scheme(place) in ("s3", "s3a", "gs"):
        return f"{scheme}://{bucket}{slash}{name}", before
    if "." not in bucket:
        raise ConfigError(
            f"{argument}: before @ an Azure URL has its container, as in {scheme}://container@account.dfs.core.windows.net"
            f"; for a connection write ObjectStoragePath({f'{scheme}://{bucket}{slash}{name}'!r}, conn_id={before!r})"
        )
    return place, None


# Keys of an AWS connection that are followed.
_OF_AWS = re.compile(
    r"aws_(access_key_id|secret_access_key|session_token)|(config|session)_kwargs|endpoint_url|profile_name|region_name"
    r"|role_arn|assume_role_.*|service_config"
)


def _of_aws(connection: Secret, url: str) -> Options:
    """The options of S3: the session, endpoint and region of the hook of the Amazon provider."""
    if find_spec("airflow.providers.amazon") is None:
        _refuse(connection, ["an identity for S3"], " without the package apache-airflow-providers-amazon")
    extra = _given(connection)
    config, service = extra.get("config_kwargs") or {}, (extra.get("service_config") or {}).get("s3") or {}
    unfit = [key for key in extra if not _OF_AWS.fullmatch(key)]
    unfit += [f"config_kwargs.{key}" for key in config if key not in ("proxies", "region_name", "s3")]
    unfit += [f"config_kwargs.s3.{key}" for key in config.get("s3") or () if key != "addressing_style"]
    unfit += [f"service_config.s3.{key}" for key in service if key != "endpoint_url"]
    del extra, config, service
    _refuse(connection, unfit)
    from airflow.providers.amazon.aws.hooks.base_aws import AwsBaseHook

    hook = AwsBaseHook(aws_conn_id=connection.value.conn_id, client_type="s3")
    session = hook.get_session()
    # Sends nothing, and resolves what profiles and the environment add.
    client = session.client("s3", endpoint_url=hook.conn_config.get_service_endpoint_url("s3"), config=hook.config)
    config, address = client.meta.config, urlsplit(client.meta.endpoint_url)
    is_virtual = (config.s3 or {}).get("addressing_style") == "virtual"
    options = {
        "aws_region": hook.config.region_name or session.region_name or "",
        "aws_virtual_hosted_style_request": "true" if is_virtual else "",
        "aws_proxy_url": (config.proxies or {}).get(address.scheme, ""),
    }
    if address.netloc not in ("s3.amazonaws.com", f"s3.{client.meta.region_name}.amazonaws.com"):
        bucket = f"{urlsplit(url).netloc}." if is_virtual else ""
        options["aws_endpoint_url"] = f"{address.scheme}://{bucket}{address.netloc}{address.path}"
    credentials = session.get_credentials()
    if credentials is not None:
        names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        options |= zip(names, credentials.get_frozen_credentials()[:3], strict=True)
    return _checked(options)


def _of_google(connection: Secret, url: str) -> Options:
    """The options of Google Cloud Storage: its key file, or a token of the hook of the Google provider."""
    # The project and the retries of its own client have no effect on an object. A form has a box that is not checked.
    unused = {"project", "num_retries", "" if _given(connection).get("is_anonymous") else "is_anonymous"}
    keys = _given(connection).keys() - unused
    if not keys:
        # The credentials of the worker, as in the hook.
        return {}
    if keys == {"keyfile_dict"}:
        key = _given(connection)["keyfile_dict"]
        return {"google_service_account_key": key if isinstance(key, str) else json.dumps(key)}
    if keys == {"key_path"}:
        return {"google_service_account": str(_given(connection)["key_path"])}
    if find_spec("airflow.providers.google") is None:
        unfit = keys - {"keyfile_dict", "key_path"} or keys
        _refuse(connection, unfit, " without the package apache-airflow-providers-google")
    from airflow.providers.google.common.hooks.base_google import GoogleBaseHook
    from google.auth.transport.requests import Request

    credentials = GoogleBaseHook(gcp_conn_id=connection.value.conn_id).get_credentials()
    credentials.refresh(Request())
    return {"google_bearer_token": credentials.token}


# Credentials of an Azure connection but a service principal; the first is used, as in its hook.
_AZURE_CREDENTIALS = {
    "shared_access_key": "azure_storage_account_key",
    "sas_token": "azure_storage_sas_token",
    "password": "azure_storage_account_key",
    "account_key": "azure_storage_account_key",
    "managed_identity_client_id": "azure_client_id",
}


def _of_azure(connection: Secret, url: str) -> Options:
    """The options of Azure Blob Storage. The store renews tokens, as its hook would, so the provider is not needed."""
    known = {"account_name", "tenant_id", *_AZURE_CREDENTIALS} - {"password"}
    fields = [name for name in ("schema", "port") if getattr(connection.value, name)]
    _refuse(connection, [*_given(connection).keys() - known, *fields])
    given = connection.value.host or ""
    host = urlsplit(given if "://" in given else f"https://{given}")
    account, has_domain, domain = host.netloc.partition(".")
    extra, login = {**_given(connection), "password": connection.value.password or ""}, connection.value.login or ""
    is_principal = "tenant_id" in extra
    options = {"azure_storage_account_name": extra.get("account_name") or (not is_principal and login) or account}
    if has_domain and domain not in ("blob.core.windows.net", "dfs.core.windows.net"):
        options["azure_storage_endpoint"] = f"{host.scheme}://{host.netloc}{host.path.rstrip('/')}"
    if is_principal:
        names = ("azure_tenant_id", "azure_client_id", "azure_client_secret")
        options |= zip(names, (extra["tenant_id"], login, extra["password"]), strict=True)
    elif key := next((key for key in _AZURE_CREDENTIALS if extra.get(key)), None):
        # A SAS token may be a URL, whose query it is.
        options[_AZURE_CREDENTIALS[key]] = str(extra[key]).rpartition("?")[2] if key == "sas_token" else str(extra[key])
    return _checked(options)


def _given(connection: Secret) -> dict[str, Any]:
    """The keys of `extra` that have a value: a form leaves the others empty."""
    return {key: value for key, value in connection.value.extra_dejson.items() if value not in (None, "", {})}


def _refuse(connection: Secret, keys: Iterable[str], without: str = "") -> None:
    if named := ", ".join(sorted(keys)):
        conn_id = connection.value.conn_id
        raise ConfigError(f"the Airflow connection {conn_id!r} has {named}, which cannot be followed{without}")


def _checked(options: Options) -> Options:
    """The options that have a value. The owner of the connection permits an endpoint without TLS by naming it."""
    given = {name: value for name, value in options.items() if value}
    for name, value in options.items():
        if name.endswith(("endpoint", "endpoint_url")) and value.startswith("http://"):
            given[f"{name.partition('_')[0]}_allow_http"] = "true"
    return given


# The types of connections of a store, and its options.
_STORES: dict[str, tuple[tuple[str, ...], Callable[[Secret, str], Options]]] = {
    **dict.fromkeys(("s3", "s3a"), (("aws",), _of_aws)),
    "gs": (("google_cloud_platform",), _of_google),
    **dict.fromkeys(("az", "azure", "abfs", "abfss", "wasb", "wasbs"), (("wasb", "adls"), _of_azure)),
}
