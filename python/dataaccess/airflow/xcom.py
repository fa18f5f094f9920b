"""Classes that a task may return: the next task gets a condition as it was, and of a report the figures.

Airflow loads a class from XCom only if somebody allowed it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from dataaccess import ScanReport
from dataaccess.filters import Comparison, Days, Expression

# It was in another place until Airflow 3.1.
_SERDE = "airflow.sdk.serde" if find_spec("airflow.sdk.serde") else "airflow.serialization.serde"
_CLASSES = (Comparison, Days, Expression, ScanReport)


def allow() -> None:
    """Lets this process load them, as `[core] allowed_deserialization_classes` does for an installation.

    The text of a condition is parsed, never evaluated.
    """
    import_module(_SERDE)._extra_allowed.update(f"{each.__module__}.{each.__qualname__}" for each in _CLASSES)
