"""Kinds of errors that share an exception class: `isinstance` and `pytest.raises` tell them apart by a field."""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

import dataaccess as da


class _Kind(type):
    """The class of the kinds: an error is of a kind if it has the values that the kind gives its fields."""

    def __instancecheck__(cls, error: object) -> bool:
        fields = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
        return type(error) is cls.__base__ and all(
            getattr(error, name) in (value if isinstance(value, range) else [value]) for name, value in fields.items()
        )


_KINDS: list[type[da.DataAccessError]] = []
_Error = TypeVar("_Error", bound=da.DataAccessError)


def _kind(name: str, base: type[_Error], **fields: object) -> type[_Error]:
    made = cast("type[_Error]", _Kind(name, (base,), fields))
    _KINDS.append(made)
    return made


Tls = _kind("Tls", da.ConnectError, phase="tls")
Proxy = _kind("Proxy", da.ConnectError, phase="proxy")
Lost = _kind("Lost", da.ConnectionLostError, reason="lost")
Truncated = _kind("Truncated", da.ConnectionLostError, reason="truncated")
Malformed = _kind("Malformed", da.ConnectionLostError, reason="malformed")
Redirect = _kind("Redirect", da.RequestRejectedError, status=range(300, 400))
NotJson = _kind("NotJson", da.ResponseError, reason="not_json")
InvalidJson = _kind("InvalidJson", da.ResponseError, reason="invalid_json")
Envelope = _kind("Envelope", da.ResponseError, reason="envelope")
Record = _kind("Record", da.ResponseError, reason="record")
TooLarge = _kind("TooLarge", da.ResponseError, reason="too_large")
Mismatch = _kind("Mismatch", da.FolderError, reason="mismatch")
Corrupt = _kind("Corrupt", da.FolderError, reason="corrupt")


def kind_of(error: BaseException) -> type[BaseException]:
    return next((kind for kind in _KINDS if isinstance(error, kind)), type(error))


def fixed_by(error: da.DataAccessError) -> list[str]:
    """The column and the type that the hint of an error names."""
    return re.findall(r'"(\w+)"', error.hint or "")


def fields_of(kind: type[da.DataAccessError]) -> list[str]:
    """The fields of a class, and of those that it is derived from."""
    ours: list[Any] = [base for base in reversed(kind.__mro__) if issubclass(base, da.DataAccessError)]
    return [name for base in ours for name in base.__annotations__ if not name.startswith("_")]
