"""What a scan uses of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dataaccess._native import RawClient


class ScanClient(Protocol):
    """What a scan uses of its client."""

    _raw: RawClient
    _embedded: str | None
    _is_sandbox: bool

    @property
    def base_url(self) -> str: ...
    @property
    def timezone(self) -> str: ...
    @property
    def day_comparison(self) -> str: ...
