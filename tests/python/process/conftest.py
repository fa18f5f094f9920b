"""Fixtures of the tests of processes."""

from support.fast_clock import short_pauses

__all__ = ["short_pauses"]
