"""What operators and sensor share: the client, its end when the task is killed, and templates that render lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from dataaccess.airflow.condition import with_list
from dataaccess.airflow.hook import DataAccessHook

if TYPE_CHECKING:
    import jinja2
    from airflow.sdk import Context

    from dataaccess import Client


class ClientUser:
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

    def render_template(
        self,
        content: Any,
        context: Context,
        jinja_env: jinja2.Environment | None = None,
        seen_oids: set[int] | None = None,
    ) -> Any:
        """Renders templates as Airflow does, but a list as a list."""
        rendered = super().render_template(content, context, jinja_env, seen_oids)  # type: ignore[misc] # of Airflow
        is_new = isinstance(content, str) and isinstance(rendered, str) and rendered != content
        return with_list(content, rendered) if is_new else rendered

    def describe_outlets(self, context: Context, figures: dict[str, Any]) -> None:
        """Adds figures to the asset events of this task."""
        for outlet in self.outlets:
            if isinstance(outlet, Asset):
                context["outlet_events"][outlet].extra.update(figures)
