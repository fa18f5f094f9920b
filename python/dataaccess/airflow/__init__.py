"""The Airflow provider: a connection, a hook, operators and a sensor for the service (extra `airflow`, 3.1.8+).

Airflow finds it by the entry point `apache_airflow_provider`. Importing this package imports neither Airflow nor the
extension module: names are loaded at their first use, so a DAG file parses quickly.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataaccess.airflow.check import DataAccessCheckOperator
    from dataaccess.airflow.hook import DataAccessHook
    from dataaccess.airflow.mapping import DataAccessScanRequestOperator
    from dataaccess.airflow.plan import scan_requests
    from dataaccess.airflow.scan import DataAccessScanOperator
    from dataaccess.airflow.search import DataAccessSearchCodesOperator, DataAccessSearchItemsOperator
    from dataaccess.airflow.sensor import DataAccessSegmentExportSensor
    from dataaccess.airflow.trigger import DataAccessSegmentExportTrigger

__all__ = [
    "DataAccessCheckOperator",
    "DataAccessHook",
    "DataAccessScanOperator",
    "DataAccessScanRequestOperator",
    "DataAccessSearchCodesOperator",
    "DataAccessSearchItemsOperator",
    "DataAccessSegmentExportSensor",
    "DataAccessSegmentExportTrigger",
    "scan_requests",
]

_MODULES = {
    "check": ["DataAccessCheckOperator"],
    "hook": ["DataAccessHook"],
    "mapping": ["DataAccessScanRequestOperator"],
    "plan": ["scan_requests"],
    "scan": ["DataAccessScanOperator"],
    "search": ["DataAccessSearchCodesOperator", "DataAccessSearchItemsOperator"],
    "sensor": ["DataAccessSegmentExportSensor"],
    "trigger": ["DataAccessSegmentExportTrigger"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Loads a public name at its first use."""
        if name not in _HOMES:
            raise AttributeError(f"module 'dataaccess.airflow' has no attribute {name!r}")
        value = getattr(_import_module(f"dataaccess.airflow.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


del TYPE_CHECKING


def __dir__() -> list[str]:
    """The names that users type."""
    return list(__all__)
