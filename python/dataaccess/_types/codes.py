"""Promotion codes: their attributes, statuses and holders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from dataaccess import _contract
from dataaccess._public import public
from dataaccess.filters import Comparison
from dataaccess.filters._values import Scalar


@public
class CodeStatus(IntEnum):
    """Status of a promotion code: what `code_status` takes, and what dicts and columns of `code_status` hold.

    Columns of names, as `decode_status=True` makes them, hold strings such as "used" instead.

    Examples:
        >>> import dataaccess as da
        >>> da.CodeStatus.USED == 4, da.CodeStatus(4).name.lower()
        (True, 'used')
    """

    AVAILABLE = _contract.AVAILABLE
    SENT = _contract.SENT
    USED = _contract.USED


@public
class AudienceType(IntEnum):
    """Kind of the holder of a promotion code: what `audience_type` takes, and what dicts and columns of it hold."""

    CUSTOMER = _contract.CUSTOMER
    VISITOR = _contract.VISITOR


CodeStatusName: TypeAlias = Literal["available", "sent", "used"]
"""The name of a status of a promotion code."""

AudienceName: TypeAlias = Literal["customer", "visitor"]
"""The name of a kind of holder."""

# Editors complete the names. Any string is accepted, as a list may be read from a file: the core checks it.
CodeStatuses: TypeAlias = (
    CodeStatusName | str | int | Scalar | Iterable[CodeStatusName | str | int | Scalar] | Comparison
)
"""One status of a promotion code, by its name, number or `CodeStatus`; several, or `da.op(…)`."""

AudienceTypes: TypeAlias = AudienceName | str | int | Scalar | Iterable[AudienceName | str | int | Scalar] | Comparison
"""One kind of holder, by its name, number or `AudienceType`; several, or `da.op(…)`."""

CodeAttribute: TypeAlias = Literal[
    "id",
    "name",
    "pool_id",
    "date_created",
    "allocated_time",
    "allocated_audience",
    "audience_type",
    "code_status",
    "last_used_source",
    "last_used_time",
    "channel_id",
]
"""An attribute of a promotion code."""

CodeAttributes: TypeAlias = CodeAttribute | str | Iterable[CodeAttribute | str]
"""Attributes of a promotion code."""


class AttributeInfo(NamedTuple):
    """What an attribute holds: its type as a column, and its meaning."""

    type: str
    meaning: str


PROMOTION_CODE_ATTRIBUTES: Mapping[CodeAttribute, AttributeInfo] = MappingProxyType(
    {
        "id": AttributeInfo("string", "identifier of the code"),
        "name": AttributeInfo("string", "name of the code"),
        "pool_id": AttributeInfo("int64", "identifier of the pool that the code belongs to"),
        "date_created": AttributeInfo("timestamp", "when the code was made"),
        "allocated_time": AttributeInfo("timestamp", "when the code was allocated to a customer or visitor"),
        "allocated_audience": AttributeInfo("string", "identifier of the customer or visitor who holds the code"),
        "audience_type": AttributeInfo("int64", "kind of that holder: -1003 customer, -1007 visitor"),
        "code_status": AttributeInfo("int64", "1 available, 3 sent, 4 used"),
        "last_used_source": AttributeInfo("string", "where the code was last used; null if it never was"),
        "last_used_time": AttributeInfo("timestamp", "when the code was last used; null if it never was"),
        "channel_id": AttributeInfo("string", "the API specification does not say; not requested by default"),
    }
)
"""The attributes of promotion codes, with their types and meanings."""
