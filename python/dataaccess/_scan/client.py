"""`ScanClient`: what a scan uses of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dataaccess._native import RawClient


class ScanClient(Protocol):
    """The part of a client that scans use: they do not import the clients, which make them."""

    _raw: RawClient
    _embedded: str | None
    _is_sandbox: bool

    @property
    def base_url(self) -> str: ...
    @property
    def timezone(self) -> str: ...
    @property
    def day_comparison(self) -> str: ...
    def _setting(self, name: str) -> Any: ...
