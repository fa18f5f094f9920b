"""Packages that the base install does without, imported where they are used."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


def optional(module: str, extra: str) -> Any:
    """Imports an optional package, or says which extra installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ImportError(f'{module} is not installed: pip install "dataaccess[{extra}]"', name=module) from error
