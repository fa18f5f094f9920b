"""What Airflow reads at its start: the connection type with its form, and where hook, operators and sensor are.

The web UI makes the form from this alone, so it imports neither the hook nor the extension module.
"""

from __future__ import annotations

from typing import Any

from dataaccess._client.settings import SETTINGS, Spec

# The JSON types of the form, by the kind of a setting.
_TYPES = {"boolean": "boolean", "duration": "number", "integer": "integer", "number": "number"}


def _field(spec: Spec) -> dict[str, Any]:
    kind = _TYPES.get(spec.kind, "string")
    members = {
        "type": [kind, "null"],
        "default": spec.default,
        "minimum": spec.least if kind in ("integer", "number") else None,
        "enum": [*spec.choices, None] if spec.choices else None,
        "format": "password" if spec.is_secret else None,
    }
    unit = " (seconds)" if spec.kind == "duration" else ""
    schema = {name: value for name, value in members.items() if value is not None}
    return {"label": f"{spec.name}{unit}", "description": spec.help, "schema": schema}


def get_provider_info() -> dict[str, Any]:
    """Describes the provider to Airflow, which calls it by the entry point `apache_airflow_provider`."""
    integration = "Data Access API"
    # The JSON of "extra" takes every other setting. The host is the base URL.
    shown = [spec for name, spec in SETTINGS.items() if spec.is_usual and name != "base_url"]
    return {
        "package-name": "dataaccess",
        "name": "Data Access",
        "description": "Items of a customer data platform, and the status of its segment exports.",
        "integrations": [{"integration-name": integration, "tags": ["service"]}],
        "connection-types": [
            {
                "connection-type": "dataaccess",
                "hook-class-name": "dataaccess.airflow.hook.DataAccessHook",
                "hook-name": "Data Access (customer data platform)",
                "conn-fields": {spec.name: _field(spec) for spec in shown},
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
        "operators": [{"integration-name": integration, "python-modules": ["dataaccess.airflow.operators"]}],
        "sensors": [{"integration-name": integration, "python-modules": ["dataaccess.airflow.sensor"]}],
        "triggers": [{"integration-name": integration, "python-modules": ["dataaccess.airflow.trigger"]}],
    }
