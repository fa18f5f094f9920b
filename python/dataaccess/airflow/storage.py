"""Where operators write: a path on the worker, or a URL with the options of its store from an Airflow connection.

All operators read `folder=` and `path=` here. `credentials` reads the connection.
"""

from __future__ import annotations

from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import invalid
from dataaccess._core.paths import location
from dataaccess._core.secret import StorageOptions, checked
from dataaccess.airflow.compat import BaseHook, ObjectStoragePath, conn_id_of
from dataaccess.airflow.connection import HiddenConnection
from dataaccess.airflow.credentials import STORES
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    import os
    from typing import TypeAlias

    from dataaccess.airflow.credentials import Store

    Place: TypeAlias = str | os.PathLike[str] | ObjectStoragePath

# What Airflow calls the disk of the worker.
_LOCAL = ("", "file", "local")


def located(place: Place, argument: str = "folder") -> tuple[str, StorageOptions | None]:
    """The absolute path or the URL of a folder or file, as other tools read it, and the options of its store.

    The id of an Airflow connection may precede the bucket of S3 and Google, as in `ObjectStoragePath`:
    `s3://aws_default@bucket/codes`. An Azure URL may have its container there, so `conn_id=` of an `ObjectStoragePath`
    names the connection.

    Args:
        place: What the operator was given.
        argument: The argument that has it.

    Raises:
        ValidationError: The path is relative, or the URL is of another kind.
        ConfigError: The connection is of another store, or has a key that the store cannot follow.
    """
    place, conn_id = _split(place, argument)
    target = location(argument, place, None)
    store = _store(target)
    if store is None:
        if not Path(target).is_absolute():
            message = "is relative to the folder in which a worker was started: write an absolute path, or a URL"
            raise invalid(argument, f"{shortened(target)} {message}", target)
        return target, None
    return target, None if conn_id is None else _options(store, conn_id, target, argument)


def is_remote(target: str) -> bool:
    """Whether a located folder or file is in an object store."""
    return _store(target) is not None


def _store(target: str) -> Store | None:
    scheme, separator, _ = target.partition("://")
    return STORES.get(scheme.lower()) if separator else None


def _options(store: Store, conn_id: str, url: str, argument: str) -> StorageOptions | None:
    connection: Any = HiddenConnection(BaseHook.get_connection(conn_id))
    if connection.conn_type not in store.conn_types:
        raise ConfigError(
            f"{argument} names the connection {conn_id!r}, which is of the type {connection.conn_type!r}; "
            f"{url.partition('://')[0]}:// takes the type {' or '.join(store.conn_types)}"
        )
    # No frame from here on shows a key.
    return checked(StorageOptions(store.options(connection, url)))


def _split(place: Place, argument: str) -> tuple[str | os.PathLike[str], str | None]:
    """The place without the id of a connection, and that id."""
    if isinstance(place, ObjectStoragePath):
        return place.path if place.protocol in _LOCAL else f"{place.protocol}://{place.path}", conn_id_of(place)
    store = _store(place) if isinstance(place, str) else None
    scheme, _, rest = str(place).partition("://")
    authority, slash, name = rest.partition("/")
    before, has_user, bucket = authority.rpartition("@")
    # With a colon it is a key with its secret: the client refuses them, and shows neither.
    if store is None or not has_user or ":" in before:
        return place, None
    if store.has_containers and "." not in bucket:
        raise ConfigError(
            f"{argument}: before @ an Azure URL has its container, as in {scheme}://container@account.dfs.core.windows.net"
            f"; for a connection write ObjectStoragePath({f'{scheme}://{bucket}{slash}{name}'!r}, conn_id={before!r})"
        )
    return (place, None) if store.has_containers else (f"{scheme}://{bucket}{slash}{name}", before)
