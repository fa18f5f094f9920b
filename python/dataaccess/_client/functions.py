"""The calls as functions of the module, with a client of the environment where none is given."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from dataaccess._client.synchronous import Client
from dataaccess._core.arguments import code_arguments, item_arguments
from dataaccess._core.process import ProcessLock
from dataaccess._native import ENVIRONMENT
from dataaccess._native import validate_codes as _validate_codes
from dataaccess._native import validate_items as _validate_items

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._scan.synchronous.scan import Scan
    from dataaccess.types import Attributes, OnUpdate, Row, Schema, TimeCondition, ValuesOrOperator, Where

# The last client of the environment, under a digest of the settings it was made of: no copy of the token.
_shared: dict[bytes, Client] = {}
_lock = ProcessLock()


def _environment_client() -> Client:
    settings = "\0".join(os.environ.get(name, "") for name in ENVIRONMENT)
    digest = hashlib.sha256(settings.encode("utf-8", "surrogateescape")).digest()
    with _lock:
        if digest not in _shared:
            client = Client()
            _shared.clear()
            _shared[digest] = client
        return _shared[digest]


def search_codes(
    attrs: Attributes | None = None,
    *,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None = None,
    allocated_audience: ValuesOrOperator | None = None,
    code_status: ValuesOrOperator | None = None,
    limit: int | None = None,
    client: Client | None = None,
) -> list[Row]:
    """Searches promotion codes (section 4.2): `Client.search_codes`.

    Args:
        attrs: As for `Client.search_codes`.
        allocated_time: As for `Client.search_codes`.
        audience_type: As for `Client.search_codes`.
        allocated_audience: As for `Client.search_codes`.
        code_status: As for `Client.search_codes`.
        limit: As for `Client.search_codes`.
        client: The client to use; None makes one of the environment's settings and reuses it.

    Returns:
        A list of dicts, ready for `pandas.DataFrame`.

    Raises:
        ConfigError: No client is given and the environment names no service or token.
        ValidationError: The request breaks a rule of the document; all problems at once.
        DataAccessError: Any other failure; see `dataaccess.errors`.

    Example:
        >>> import dataaccess as da
        >>> len(da.search_codes(allocated_time=da.after("2024-01-01"), limit=3))
        3
    """
    return (client or _environment_client()).search_codes(
        attrs,
        allocated_time=allocated_time,
        audience_type=audience_type,
        allocated_audience=allocated_audience,
        code_status=code_status,
        limit=limit,
    )


def search_items(
    item_type_name: str,
    attrs: Attributes,
    where: Where,
    *,
    item_type_id: int | None = None,
    attrs_as: str = "array",
    limit: int | None = None,
    client: Client | None = None,
) -> list[Row]:
    """Searches the items of any business object (section 4.1): `Client.search_items`.

    Args:
        item_type_name: As for `Client.search_items`.
        attrs: As for `Client.search_items`.
        where: As for `Client.search_items`.
        item_type_id: As for `Client.search_items`.
        attrs_as: As for `Client.search_items`.
        limit: As for `Client.search_items`.
        client: The client to use; None makes one of the environment's settings and reuses it.

    Returns:
        A list of dicts, ready for `pandas.DataFrame`.

    Raises:
        ConfigError: No client is given and the environment names no service or token.
        ValidationError: The request breaks a rule of the document; all problems at once.
        DataAccessError: Any other failure; see `dataaccess.errors`.

    Example:
        >>> import dataaccess as da
        >>> who = da.col("customer_id").equals("demo-customer-0001")
        >>> da.search_items("customer", ["customer_id"], who)
        [{'customer_id': 'demo-customer-0001'}]
    """
    return (client or _environment_client()).search_items(
        item_type_name, attrs, where, item_type_id=item_type_id, attrs_as=attrs_as, limit=limit
    )


def scan_codes(
    attrs: Attributes | None = None,
    *,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None = None,
    allocated_audience: ValuesOrOperator | None = None,
    code_status: ValuesOrOperator | None = None,
    limit: int | None = None,
    schema: Schema | None = None,
    chunk: int | None = None,
    ordered: bool = True,
    client: Client | None = None,
) -> Scan:
    """A search of promotion codes in columns: `Client.scan_codes`.

    Args:
        attrs: As for `Client.search_codes`.
        allocated_time: As for `Client.scan_codes`.
        audience_type: As for `Client.search_codes`.
        allocated_audience: As for `Client.search_codes`.
        code_status: As for `Client.search_codes`.
        limit: As for `Client.scan_codes`.
        schema: As for `Client.scan_codes`.
        chunk: As for `Client.scan_codes`.
        ordered: As for `Client.scan_codes`.
        client: The client to use; None makes one of the environment's settings and reuses it.

    Returns:
        A scan, which sends its requests when it is used.

    Raises:
        ConfigError: No client is given and the environment names no service or token.
        ValidationError: The request breaks a rule of the document; all problems at once.

    Example:
        >>> import dataaccess as da
        >>> dict(da.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_polars().schema)
        {'pool_id': Int64}
    """
    return (client or _environment_client()).scan_codes(
        attrs,
        allocated_time=allocated_time,
        audience_type=audience_type,
        allocated_audience=allocated_audience,
        code_status=code_status,
        limit=limit,
        schema=schema,
        chunk=chunk,
        ordered=ordered,
    )


def scan_items(
    item_type_name: str,
    attrs: Attributes,
    where: Where,
    *,
    item_type_id: int | None = None,
    attrs_as: str = "array",
    limit: int | None = None,
    schema: Schema | None = None,
    chunk: int | None = None,
    ordered: bool = True,
    client: Client | None = None,
) -> Scan:
    """A search of any business object in columns: `Client.scan_items`.

    Args:
        item_type_name: As for `Client.search_items`.
        attrs: As for `Client.search_items`.
        where: As for `Client.search_items`.
        item_type_id: As for `Client.search_items`.
        attrs_as: As for `Client.search_items`.
        limit: As for `Client.search_items`.
        schema: As for `Client.scan_items`.
        chunk: As for `Client.scan_items`.
        ordered: As for `Client.scan_items`.
        client: The client to use; None makes one of the environment's settings and reuses it.

    Returns:
        A scan, which sends its requests when it is used.

    Raises:
        ConfigError: No client is given and the environment names no service or token.
        ValidationError: The request breaks a rule of the document; all problems at once.

    Example:
        >>> import dataaccess as da
        >>> who = da.col("customer_id").equals("demo-customer-0001")
        >>> da.scan_items("customer", ["customer_id"], who).to_polars().shape
        (1, 1)
    """
    return (client or _environment_client()).scan_items(
        item_type_name,
        attrs,
        where,
        item_type_id=item_type_id,
        attrs_as=attrs_as,
        limit=limit,
        schema=schema,
        chunk=chunk,
        ordered=ordered,
    )


def download_segment(export_id: int, *, client: Client | None = None) -> dict[str, Any]:
    """Downloads the status entries of a segment export (section 4.3): `Client.download_segment`.

    Args:
        export_id: Identifier of the export.
        client: The client to use; None makes one of the environment's settings and reuses it.

    Returns:
        A dict with `entries`, `meta`, `code`, `message`, `codeMessage` and `duration`.

    Raises:
        ConfigError: No client is given and the environment names no service or token.
        ValidationError: `export_id` is not a whole number.
        DataAccessError: Any other failure; see `dataaccess.errors`.

    Example:
        >>> import dataaccess as da
        >>> da.download_segment(5637051)["message"]
        'Success'
    """
    return (client or _environment_client()).download_segment(export_id)


def wait_for_segment(
    export_id: int,
    *,
    timeout: float | timedelta,
    poll: float | timedelta | None = None,
    on_update: OnUpdate | None = None,
    client: Client | None = None,
) -> dict[str, Any]:
    """Waits until an export has ended (sections 2.5 and 3.2): `Client.wait_for_segment`.

    Args:
        export_id: Identifier of the export.
        timeout: As for `Client.wait_for_segment`.
        poll: As for `Client.wait_for_segment`.
        on_update: As for `Client.wait_for_segment`.
        client: The client to use; None makes one of the environment's settings and reuses it.

    Returns:
        The last answer, as `download_segment`.

    Raises:
        ConfigError: No client is given and the environment names no service or token.
        WaitTimeoutError: The export has not ended in time; `.last` is the last answer.
        DataAccessError: Any other failure; see `dataaccess.errors`.

    Example:
        >>> import dataaccess as da
        >>> status = da.wait_for_segment(5637051, timeout=60)
    """
    return (client or _environment_client()).wait_for_segment(
        export_id, timeout=timeout, poll=poll, on_update=on_update
    )


def validate_codes(
    attrs: Attributes | None = None,
    *,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None = None,
    allocated_audience: ValuesOrOperator | None = None,
    code_status: ValuesOrOperator | None = None,
    limit: int | None = None,
    client: Client | None = None,
) -> dict[str, Any]:
    """Checks the arguments of `search_codes` and sends nothing. It needs neither address nor token.

    Args:
        attrs: As for `Client.search_codes`.
        allocated_time: As for `Client.search_codes`.
        audience_type: As for `Client.search_codes`.
        allocated_audience: As for `Client.search_codes`.
        code_status: As for `Client.search_codes`.
        limit: As for `Client.search_codes`.
        client: Its `timezone` is used; without a client times are read in UTC.

    Returns:
        The body that would be sent, as a dict (section 4.2).

    Raises:
        ValidationError: The request breaks a rule of the document; all problems at once.

    Example:
        >>> import dataaccess as da
        >>> body = da.validate_codes(["id"], allocated_time=da.before("2024-02-01"))
        >>> body["filters"]["OR"][0]["AND"][0]["operator"]
        'before_date'
    """
    arguments = code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
    return _validate_codes(arguments, "UTC" if client is None else client.timezone)


def validate_items(
    item_type_name: str,
    attrs: Attributes,
    where: Where,
    *,
    item_type_id: int | None = None,
    attrs_as: str = "array",
    limit: int | None = None,
    client: Client | None = None,
) -> dict[str, Any]:
    """Checks the arguments of `search_items` and sends nothing. It needs neither address nor token.

    Args:
        item_type_name: As for `Client.search_items`.
        attrs: As for `Client.search_items`.
        where: As for `Client.search_items`.
        item_type_id: As for `Client.search_items`.
        attrs_as: As for `Client.search_items`.
        limit: As for `Client.search_items`.
        client: Its `timezone` is used; without a client times are read in UTC.

    Returns:
        The body that would be sent, as a dict (section 4.1).

    Raises:
        ValidationError: The request breaks a rule of the document; all problems at once.

    Example:
        >>> import dataaccess as da
        >>> body = da.validate_items("customer", ["name"], da.col("name").equals("x"))
        >>> body["itemTypeId"]
        -1003
    """
    arguments = item_arguments(item_type_name, attrs, where, item_type_id, attrs_as, limit)
    return _validate_items(arguments, "UTC" if client is None else client.timezone)
