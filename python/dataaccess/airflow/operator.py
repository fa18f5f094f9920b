"""What operators and sensor share: the client, its end when the task is killed, and templates in conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from dataaccess.airflow.hook import DataAccessHook
from dataaccess.filters._column import Column, Expression
from dataaccess.filters._comparison import Comparison, Days

if TYPE_CHECKING:
    import jinja2
    from airflow.sdk import Context

    from dataaccess import Client

_CONDITIONS = (Comparison, Days, Expression, Column)


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
        """Renders templates in conditions too, such as `da.on("{{ params.day }}")`."""
        if isinstance(content, _CONDITIONS):
            given = content._given()  # noqa: SLF001 - of this package
            return type(content)(*[self.render_template(value, context, jinja_env, seen_oids) for value in given])
        return super().render_template(content, context, jinja_env, seen_oids)  # type: ignore[misc] # that of Airflow

    def describe_outlets(self, context: Context, figures: dict[str, Any]) -> None:
        """Adds figures to the asset events of this task."""
        for outlet in self.outlets:
            if isinstance(outlet, Asset):
                context["outlet_events"][outlet].extra.update(figures)
