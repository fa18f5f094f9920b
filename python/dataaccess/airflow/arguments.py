"""Arguments that the operators share: settings of the client, what they do with doubts, and how many rows they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dataaccess._core.checks import invalid
from dataaccess.airflow.figures import RequiredRows
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operator import ClientOperator
from dataaccess.errors import DoubtfulDataError

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess import Client
    from dataaccess._types import AttrsFormat
    from dataaccess.reports import ScanStats


class RequestingOperator(ClientOperator):
    """The arguments of an operator that sends requests.

    `known_row_cap` and `timeout` take the place of the settings of the connection.
    """

    def __init__(
        self,
        *,
        known_row_cap: int | None = None,
        timeout: float | timedelta | None = None,
        on_doubt: Literal["warn", "error"] = "warn",
        min_rows: int | None = None,
        fail_on_empty: bool = False,
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks what no template changes."""
        super().__init__(**options)
        self.known_row_cap = known_row_cap
        self.timeout = timeout
        if on_doubt not in ("warn", "error"):
            raise invalid("on_doubt", 'must be "warn" or "error"', on_doubt)
        self.on_doubt = on_doubt
        self.min_rows = min_rows
        self.fail_on_empty = fail_on_empty
        self.dataaccess_conn_id = dataaccess_conn_id
        RequiredRows(min_rows, fail_on_empty)

    @property
    def required_rows(self) -> RequiredRows:
        """How many rows the task needs."""
        return RequiredRows(self.min_rows, self.fail_on_empty)

    def connect(self) -> Client:
        """Makes the client of this task."""
        settings = {name: value for name, value in self.client_settings().items() if value is not None}
        self._hook = DataAccessHook(self.dataaccess_conn_id)
        self._client = self._hook.client(**settings)
        return self._client

    def client_settings(self) -> dict[str, Any]:
        """The settings of the client that arguments say; None where the connection says them."""
        return {"known_row_cap": self.known_row_cap, "timeout": self.timeout}

    def accept_result(self, stats: ScanStats) -> bool:
        """Whether a result may be written, before it replaces anything.

        Raises:
            DoubtfulDataError: It looks wrong, and doubts are errors.
            AirflowException: It has too few rows.
        """
        if self.on_doubt == "error" and stats.warnings:
            raise DoubtfulDataError("; ".join(stats.warnings))
        self.required_rows.check(stats.rows)
        return True


class SearchingOperator(RequestingOperator):
    """The arguments of an operator that makes its requests from conditions.

    `attrs_format` takes the place of the setting of the connection.
    """

    def __init__(
        self,
        *,
        attrs_format: AttrsFormat | None = None,
        **options: Any,
    ) -> None:
        """Checks what no template changes."""
        super().__init__(**options)
        self.attrs_format = attrs_format

    def client_settings(self) -> dict[str, Any]:
        """The settings of the client that arguments say; None where the connection says them."""
        return super().client_settings() | {"attrs_format": self.attrs_format}
