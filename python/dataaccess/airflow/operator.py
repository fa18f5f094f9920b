"""What operators and sensor share: the client and its end when the task is killed, days of the run, metadata of assets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from airflow.sdk import Asset

from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.rendering import Templated
from dataaccess.airflow.window import RunDays

if TYPE_CHECKING:
    import jinja2
    from airflow.sdk import Context

    from dataaccess import Client


class ClientUser(Templated):
    """A mixin for operators that use a client."""

    dataaccess_conn_id: str | None
    outlets: list[Any]
    # Days before those of the run.
    lookback: int = 0
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
        """Renders templates with the days of the run as `dataaccess`."""
        if "dataaccess" not in context:

            def timezone() -> str:
                conn_id = self.render_template(self.dataaccess_conn_id, context, jinja_env)
                with without_useless_retries():
                    return DataAccessHook(conn_id).get_conn().timezone

            context = cast("Context", {**context, "dataaccess": RunDays(context, timezone, self.lookback)})
        return super().render_template(content, context, jinja_env, seen_oids)

    def describe_outlets(self, context: Context, figures: dict[str, Any]) -> None:
        """Adds figures to the asset events of this task."""
        for outlet in self.outlets:
            if isinstance(outlet, Asset):
                context["outlet_events"][outlet].extra.update(figures)
