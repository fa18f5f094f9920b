"""Fixtures of the tests of scans."""

from support.clock import short_pauses

__all__ = ["short_pauses"]
