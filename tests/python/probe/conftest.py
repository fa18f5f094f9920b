"""A faster clock."""

from __future__ import annotations

from support.fast_clock import short_pauses

__all__ = ["short_pauses"]
