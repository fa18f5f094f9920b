"""Packages that the base install does without, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def optional(module: str) -> Any:
    """Imports a module of an optional package, or says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (module, package):
            raise
        # A DataFrame is made from Arrow columns.
        packages = "pandas pyarrow" if package == "pandas" else package
        raise ImportError(f"{package} is not installed: pip install {packages}", name=package) from None
