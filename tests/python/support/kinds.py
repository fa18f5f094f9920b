"""Kinds of errors that share an exception class: `isinstance` and `pytest.raises` tell them apart by a field."""

from __future__ import annotations

import re
from typing import Any

import dataaccess as da


class _Kind(type):
    """The class of the kinds: an error is of a kind if it has the values that the kind gives its fields."""

    def __instancecheck__(cls, error: object) -> bool:
        fields = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
        return type(error) is cls.__base__ and all(
            getattr(error, name) in (value if isinstance(value, range) else [value]) for name, value in fields.items()
        )


class Tls(da.ConnectError, metaclass=_Kind):
    phase = "tls"


class Proxy(da.ConnectError, metaclass=_Kind):
    phase = "proxy"


class Lost(da.ConnectionLostError, metaclass=_Kind):
    reason = "lost"


class Truncated(da.ConnectionLostError, metaclass=_Kind):
    reason = "truncated"


class Malformed(da.ConnectionLostError, metaclass=_Kind):
    reason = "malformed"


class Redirect(da.RequestRejectedError, metaclass=_Kind):
    status: int | None = range(300, 400)  # type: ignore[assignment] # any of them


class NotJson(da.ResponseError, metaclass=_Kind):
    reason = "not_json"


class InvalidJson(da.ResponseError, metaclass=_Kind):
    reason = "invalid_json"


class Envelope(da.ResponseError, metaclass=_Kind):
    reason = "envelope"


class Record(da.ResponseError, metaclass=_Kind):
    reason = "record"


class TooLarge(da.ResponseError, metaclass=_Kind):
    reason = "too_large"


class Mismatch(da.FolderError, metaclass=_Kind):
    reason = "mismatch"


class Corrupt(da.FolderError, metaclass=_Kind):
    reason = "corrupt"


_KINDS = (
    *(Tls, Proxy, Lost, Truncated, Malformed, Redirect),
    *(NotJson, InvalidJson, Envelope, Record, TooLarge),
    *(Mismatch, Corrupt),
)


def kind_of(error: BaseException) -> type[BaseException]:
    """The kind of an error, or its class if that has no kinds."""
    return next((kind for kind in _KINDS if isinstance(error, kind)), type(error))


def fixed_by(error: da.DataAccessError) -> list[str]:
    """The column and the type that the hint of an error names."""
    return re.findall(r'"(\w+)"', error.hint or "")


def fields_of(kind: type[da.DataAccessError]) -> list[str]:
    """The fields of a class, and of those that it is derived from."""
    ours: list[Any] = [base for base in reversed(kind.__mro__) if issubclass(base, da.DataAccessError)]
    return [name for base in ours for name in base.__annotations__ if not name.startswith("_")]
