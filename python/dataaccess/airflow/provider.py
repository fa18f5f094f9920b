"""What Airflow reads at its start: the connection type with its form, and where hook, operators and sensor are.

The web UI makes the form from this alone, so it imports neither the hook nor the extension module.
"""

from __future__ import annotations

from typing import Any

_NUMBER = ["number", "null"]


def _field(label: str, description: str, **schema: Any) -> dict[str, Any]:
    return {"label": label, "description": description, "schema": schema}


# Settings of `Client` that the form shows; the JSON of "extra" takes every other one.
_FIELDS = {
    "timezone": _field(
        "Time zone",
        "IANA name of the time zone in which the platform cuts its days, such as Asia/Ho_Chi_Minh.",
        type=["string", "null"],
        default="UTC",
    ),
    "timeout": _field(
        "Timeout (seconds)", "For a whole call with its retries.", type=_NUMBER, exclusiveMinimum=0, default=300
    ),
    "retry_for": _field(
        "Retry for (seconds)",
        "How long a failing request is tried again, before Airflow retries the task.",
        type=_NUMBER,
        minimum=0,
        default=60,
    ),
    "concurrency": _field(
        "Concurrency", "Requests in flight at a time.", type=["integer", "null"], minimum=1, default=8
    ),
    "requests_per_second": _field(
        "Requests per second", "The most that a task sends; empty: no limit.", type=_NUMBER, exclusiveMinimum=0
    ),
    "ca_bundle": _field(
        "CA bundle", "PEM file on the workers with the CAs to trust instead of the system's.", type=["string", "null"]
    ),
    "proxy": _field(
        "Proxy",
        "Address of a proxy; empty: that of the workers' environment.",
        type=["string", "null"],
        format="password",
    ),
    "allow_http": _field(
        "Allow plain HTTP",
        "Whether the token may leave the worker unencrypted: for test systems alone.",
        type=["boolean", "null"],
        default=False,
    ),
}


def get_provider_info() -> dict[str, Any]:
    """Describes the provider to Airflow, which calls it by the entry point `apache_airflow_provider`.

    Returns:
        A dict, as Airflow's `provider_info.schema.json` describes it.

    Examples:
        >>> get_provider_info()["connection-types"][0]["connection-type"]
        'dataaccess'
    """
    integration = "Data Access API"
    return {
        "package-name": "dataaccess",
        "name": "Data Access",
        "description": "Items and segment exports of a customer data platform.",
        "integrations": [{"integration-name": integration, "tags": ["service"]}],
        "connection-types": [
            {
                "connection-type": "dataaccess",
                "hook-class-name": "dataaccess.airflow.hook.DataAccessHook",
                "hook-name": "Data Access (customer data platform)",
                "conn-fields": _FIELDS,
                "ui-field-behaviour": {
                    "hidden-fields": ["schema", "login", "port"],
                    "relabeling": {"host": "Base URL", "password": "Token"},
                    "placeholders": {
                        "host": "https://cdp.example.com, or sandbox:demo",
                        "password": "empty: DATAACCESS_TOKEN of the workers, if the host is theirs",
                    },
                },
            }
        ],
        "hooks": [{"integration-name": integration, "python-modules": ["dataaccess.airflow.hook"]}],
        "operators": [
            {
                "integration-name": integration,
                "python-modules": [f"dataaccess.airflow.{name}" for name in ("search", "scan", "mapping")],
            }
        ],
        "sensors": [{"integration-name": integration, "python-modules": ["dataaccess.airflow.sensor"]}],
        "triggers": [{"integration-name": integration, "python-modules": ["dataaccess.airflow.trigger"]}],
    }
