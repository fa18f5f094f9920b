"""The names of Airflow, which its versions have in different modules. No other module here imports Airflow.

Airflow 2 is refused in words: it has another interface for tasks.
"""

from __future__ import annotations

try:
    from airflow.sdk import Asset, BaseHook, BaseOperator, ObjectStoragePath, PokeReturnValue
    from airflow.sdk.bases.sensor import BaseSensorOperator
    from airflow.triggers.base import BaseEventTrigger, BaseTrigger, TriggerEvent
except ImportError as _error:
    try:
        from airflow import __version__ as _version
    except ImportError:
        raise _error from None
    if _version.startswith("3."):
        raise
    raise ImportError(
        f"dataaccess.airflow needs Airflow 3.1.8 or newer, and this is Airflow {_version}: upgrade it, or use "
        "dataaccess.Client in a task of your own"
    ) from _error

from airflow import __version__ as airflow_version

try:
    from airflow.sdk import conf
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowSensorTimeout,
        AirflowSkipException,
        TaskDeferred,
    )
    from airflow.sdk.lineage import get_hook_lineage_collector
except ImportError:  # before 3.2
    from airflow.configuration import conf
    from airflow.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowSensorTimeout,
        AirflowSkipException,
        TaskDeferred,
    )
    from airflow.lineage.hook import get_hook_lineage_collector

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowSensorTimeout",
    "AirflowSkipException",
    "Asset",
    "BaseEventTrigger",
    "BaseHook",
    "BaseOperator",
    "BaseSensorOperator",
    "BaseTrigger",
    "ObjectStoragePath",
    "PokeReturnValue",
    "TaskDeferred",
    "TriggerEvent",
    "airflow_version",
    "conf",
    "conn_id_of",
    "get_hook_lineage_collector",
]


def conn_id_of(path: ObjectStoragePath) -> str | None:
    """The id of the connection of a path, which is among the options of its store before 3.2."""
    conn_id: str | None = getattr(path, "conn_id", None) or path.storage_options.get("conn_id")
    return conn_id
