"""Promotion codes: their attributes, statuses and holders."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from dataaccess import _contract
from dataaccess._public import public
from dataaccess.filters import Comparison, Scalar


class Named(IntEnum):
    """A number of the service with a name: equal to both, so that it selects rows of columns that hold either.

    It has the hash of its number, so sets and indexes of names do not find it. pandas hands comparisons to the operand
    with the higher priority, which compares a column of names with the name.
    """

    __pandas_priority__ = 10_000

    @property
    def text(self) -> str:
        """The name in lower case, such as "used": the value of a column with `decode_status=True`."""
        return self.name.lower()

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> Any:
        return other == self.text if isinstance(other, str) else self._compared(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return other != self.text if isinstance(other, str) else self._compared(operator.ne, other)

    def __lt__(self, other: Any) -> Any:
        return self._compared(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(operator.ge, other)

    def _compared(self, compare: Callable[[Any, Any], Any], other: Any) -> Any:
        if not hasattr(type(other), "__pandas_priority__") or isinstance(other, Named):
            return getattr(int, f"__{compare.__name__}__")(int(self), other)
        if getattr(other, "ndim", 1) > 1:
            return other.apply(lambda column: self._compared(compare, column))
        if getattr(other.dtype, "kind", None) in ("i", "u", "f"):
            return _MIRRORED[compare](other, int(self))
        # A category, or objects, may have either.
        if compare is operator.eq:
            return (other == int(self)) | (other == self.text)
        if compare is operator.ne:
            return (other != int(self)) & (other != self.text)
        return _MIRRORED[compare](other, self.text)


# pandas compares its operand first.
_MIRRORED: dict[Callable[[Any, Any], Any], Callable[[Any, Any], Any]] = {
    operator.eq: operator.eq,
    operator.ne: operator.ne,
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
}


@public
class CodeStatus(Named):
    """Status of a promotion code: what `code_status=` takes and the attribute `code_status` holds.

    A member equals its number and its name, so it selects rows of a pandas column with either.

    Examples:
        >>> import dataaccess as da
        >>> da.CodeStatus.USED == 4, da.CodeStatus.USED == "used", da.CodeStatus.USED.text
        (True, True, 'used')
    """

    AVAILABLE = _contract.AVAILABLE
    SENT = _contract.SENT
    USED = _contract.USED


CodeStatusName: TypeAlias = Literal["available", "sent", "used"]
"""The name of a status of a promotion code."""

# With `str` a list from a file, or a templated text, is accepted too. Editors still complete the names, and the core
# checks them.
CodeStatuses: TypeAlias = (
    CodeStatusName | str | int | Scalar | Iterable[CodeStatusName | str | int | Scalar] | Comparison
)
"""One status of a promotion code, by its name, number or `CodeStatus`; several, or `da.op(…)`."""


@public
class AudienceType(Named):
    """Kind of the holder of a promotion code: what `audience_type=` takes and the attribute `audience_type` holds.

    A member equals its number and its name, so it selects rows of a pandas column with either.
    """

    CUSTOMER = _contract.CUSTOMER
    VISITOR = _contract.VISITOR


AudienceName: TypeAlias = Literal["customer", "visitor"]
"""The name of a kind of holder."""

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


class AttributeTable(Mapping[CodeAttribute, AttributeInfo]):
    """Attributes with their types and meanings, which cannot be changed."""

    __slots__ = ("_known",)

    def __init__(self, known: dict[CodeAttribute, AttributeInfo]) -> None:
        """Keeps them in this order."""
        self._known = known

    def __getitem__(self, name: CodeAttribute) -> AttributeInfo:
        return self._known[name]

    def __iter__(self) -> Iterator[CodeAttribute]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return repr(self._known)

    def __str__(self) -> str:
        """A line for each attribute: what `print` shows."""
        from dataaccess._display.listing import listing_text

        return listing_text(_HEADS, self._rows())

    def _repr_html_(self) -> str:
        """The attributes for notebooks."""
        from dataaccess._display.listing import listing_html

        return listing_html("Attributes of promotion codes", _HEADS, self._rows())

    def _rows(self) -> list[list[object]]:
        return [[name, *info] for name, info in self._known.items()]


_HEADS = ["attribute", "type", "meaning"]

PROMOTION_CODE_ATTRIBUTES: Mapping[CodeAttribute, AttributeInfo] = AttributeTable(
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
