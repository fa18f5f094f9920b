"""What a task may return: of a report the figures.

Airflow loads a class from XCom only if somebody allowed it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from dataaccess import ScanReport

# It was in another place until Airflow 3.1.
_SERDE = "airflow.sdk.serde" if find_spec("airflow.sdk.serde") else "airflow.serialization.serde"


def allow() -> None:
    """Lets this process load them, as `[core] allowed_deserialization_classes` does for an installation."""
    import_module(_SERDE)._extra_allowed.add(f"{ScanReport.__module__}.{ScanReport.__qualname__}")
