"""What operators and sensor share: the client, its end when the task is killed, and the metadata of assets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.rendering import Templated

if TYPE_CHECKING:
    from airflow.sdk import Context

    from dataaccess import Client


class ClientUser(Templated):
    """A mixin for operators that use a client."""

    dataaccess_conn_id: str | None
    outlets: list[Any]
    # Of the running task; never part of the serialized DAG.
    _client: Client | None = None

    def connect(self) -> Client:
        """Makes the client of this task."""
        self._client = DataAccessHook(self.dataaccess_conn_id).get_conn()
        return self._client

    def on_kill(self) -> None:
        """Ends the requests in flight: the call that waits for them raises `ClientClosedError`."""
        if self._client is not None:
            self._client.close()

    def describe_outlets(self, context: Context, figures: dict[str, Any]) -> None:
        """Adds figures to the asset events of this task."""
        for outlet in self.outlets:
            if isinstance(outlet, Asset):
                context["outlet_events"][outlet].extra.update(figures)
