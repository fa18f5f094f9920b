"""Fixtures of the tests of processes."""

from support.clock import short_pauses

__all__ = ["short_pauses"]
