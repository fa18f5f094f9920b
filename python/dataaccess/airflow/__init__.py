"""The Airflow provider: a connection, a hook, operators and a sensor for the service (extra `airflow`, 3.1.8+).

Airflow finds it by the entry point `apache_airflow_provider`. Importing this package imports neither Airflow nor the
extension module: names are loaded at their first use, so a DAG file parses quickly.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataaccess.airflow.hook import DataAccessHook
    from dataaccess.airflow.operators import DataAccessScanOperator, DataAccessSearchOperator
    from dataaccess.airflow.sensor import DataAccessSegmentExportSensor
    from dataaccess.airflow.trigger import DataAccessEventTrigger, DataAccessSegmentExportTrigger

__all__ = [
    "DataAccessEventTrigger",
    "DataAccessHook",
    "DataAccessScanOperator",
    "DataAccessSearchOperator",
    "DataAccessSegmentExportSensor",
    "DataAccessSegmentExportTrigger",
]


if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        if name in __all__:
            for home in ("hook", "operators", "trigger", "sensor"):
                if (value := vars(_import_module(f"dataaccess.airflow.{home}")).get(name)) is not None:
                    return value
        raise AttributeError(f"module 'dataaccess.airflow' has no attribute {name!r}")


del TYPE_CHECKING


def __dir__() -> list[str]:
    return list(__all__)
