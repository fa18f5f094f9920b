"""The names of Airflow, which its versions have in different modules. No other module here imports Airflow.

Airflow 2 is refused in words: it has another interface for tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from airflow.sdk import Asset, BaseOperator, BaseOperatorLink, ObjectStoragePath, PokeReturnValue
    from airflow.sdk.bases.sensor import BaseSensorOperator
    from airflow.triggers.base import BaseTrigger, TriggerEvent
except ImportError as _error:
    try:
        from airflow import __version__ as _version
    except ImportError:
        raise _error from None
    if _version.startswith("3."):
        raise
    raise ImportError(
        f"dataaccess.airflow needs Airflow 3.2 or newer, and this is Airflow {_version}: upgrade it, or use "
        "dataaccess.Client in a task of your own"
    ) from _error

if TYPE_CHECKING:
    from airflow.sdk import BaseHook, Connection, conf
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowSensorTimeout,
        AirflowSkipException,
        TaskDeferred,
    )
    from airflow.sdk.lineage import get_hook_lineage_collector
else:
    try:
        from airflow.sdk.lineage import get_hook_lineage_collector
    except ImportError:  # before 3.2
        from airflow.lineage.hook import get_hook_lineage_collector
    try:
        from airflow.sdk import BaseHook
    except ImportError:  # before 3.1
        from airflow.hooks.base import BaseHook
    try:
        from airflow.sdk import conf
    except ImportError:  # before 3.2
        from airflow.configuration import conf
    try:
        from airflow.sdk.exceptions import (
            AirflowException,
            AirflowFailException,
            AirflowSensorTimeout,
            AirflowSkipException,
            TaskDeferred,
        )
    except ImportError:  # before 3.2
        from airflow.exceptions import (
            AirflowException,
            AirflowFailException,
            AirflowSensorTimeout,
            AirflowSkipException,
            TaskDeferred,
        )

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowSensorTimeout",
    "AirflowSkipException",
    "Asset",
    "BaseHook",
    "BaseOperator",
    "BaseOperatorLink",
    "BaseSensorOperator",
    "BaseTrigger",
    "ObjectStoragePath",
    "PokeReturnValue",
    "TaskDeferred",
    "TriggerEvent",
    "conf",
    "get_hook_lineage_collector",
    "read_connection",
]


async def read_connection(conn_id: str) -> Connection:
    """An Airflow connection, read beside the event loop."""
    if hasattr(BaseHook, "aget_connection"):
        return await BaseHook.aget_connection(conn_id)
    # Before 3.1. One thread reads for all triggers, as they share a channel to Airflow.
    from asgiref.sync import sync_to_async

    return await sync_to_async(BaseHook.get_connection)(conn_id)
