"""The names of Airflow, which its versions have in different modules. No other module here imports Airflow.

Airflow 2 is refused in words: it has another interface for tasks.
"""

from __future__ import annotations

from airflow import __version__ as airflow_version

if airflow_version.startswith("2."):
    raise ImportError(
        f"dataaccess.airflow needs Airflow 3.1.8 or newer, and this is Airflow {airflow_version}: upgrade it, or use "
        "dataaccess.Client in a task of your own"
    )

from airflow.sdk import Asset, BaseHook, BaseOperator, Context, ObjectStoragePath, PokeReturnValue
from airflow.sdk.bases.sensor import BaseSensorOperator
from airflow.triggers.base import BaseEventTrigger, BaseTrigger, TriggerEvent

try:
    from airflow.sdk import conf, exceptions
except ImportError:  # before 3.2
    from airflow import exceptions
    from airflow.configuration import conf
