"""Folders of runs, and the credentials of their store from an Airflow connection."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dataaccess.airflow.compat import BaseHook
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk import ObjectStoragePath

# Options of the store, by their names in the extra of an AWS connection.
_AWS = {
    "region_name": "aws_region",
    "endpoint_url": "aws_endpoint_url",
    "aws_session_token": "aws_session_token",
}


def located(folder: str | ObjectStoragePath) -> tuple[str, dict[str, str] | None]:
    """The path or URL of a folder, and the options of its store.

    The id of an Airflow connection may precede the bucket, as in `ObjectStoragePath`: `s3://aws_default@bucket/codes`.

    Raises:
        ConfigError: The connection is not one of AWS.
    """
    text = str(folder)
    url = urlsplit(text)
    conn_id, has_connection, bucket = url.netloc.rpartition("@")
    if url.scheme in ("", "file") or not has_connection:
        return text, None
    connection = BaseHook.get_connection(conn_id)
    if connection.conn_type != "aws":
        raise ConfigError(
            f"folder names the connection {conn_id!r}, which is of the type {connection.conn_type!r}; only connections "
            "of the type aws are read: set the credentials of other stores in the environment of the workers"
        )
    return url._replace(netloc=bucket).geturl(), aws_options(connection, connection.extra_dejson)


def aws_options(connection: object, extra: Mapping[str, object]) -> dict[str, str]:
    """The options of S3 from an AWS connection; those it lacks come from the environment."""
    options = {
        "aws_access_key_id": getattr(connection, "login", None),
        "aws_secret_access_key": getattr(connection, "password", None),
        **{option: extra.get(name) for name, option in _AWS.items()},
    }
    given = {name: str(value) for name, value in options.items() if value}
    if given.get("aws_endpoint_url", "").startswith("http://"):
        given["aws_allow_http"] = "true"
    return given
