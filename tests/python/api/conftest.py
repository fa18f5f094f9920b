"""Fixtures of the tests of the interface."""

from support.profiles import config

__all__ = ["config"]
