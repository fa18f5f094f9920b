"""Optional packages, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def optional(module: str) -> Any:
    """Imports a module.

    Raises:
        ImportError: The package is not installed; the message has the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (module, package):
            raise
        # pandas gets its columns from Arrow.
        packages = "pandas pyarrow" if package == "pandas" else package
        raise ImportError(f"{package} is not installed: pip install {packages}", name=package) from None
