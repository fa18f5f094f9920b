"""What operators and sensor share: the client, its end when the task is killed, the days of the run, asset events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from dataaccess.airflow.compat import Asset, BaseOperator, BaseOperatorLink
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.lineage import FolderLink, record_lineage
from dataaccess.airflow.rendering import Templated
from dataaccess.airflow.window import RunDays

if TYPE_CHECKING:
    from collections.abc import Collection
    from contextlib import AbstractContextManager

    import jinja2
    from airflow.sdk import Context

    from dataaccess import Client


class ClientOperator(Templated, BaseOperator):
    """An operator that uses a client."""

    dataaccess_conn_id: str | None
    # How the web UI shows arguments. No `template_ext`: every text that ends so would be read as a file.
    template_fields_renderers: ClassVar[dict[str, str]] = {
        "allocated_time": "py",
        "where": "py",
        "attrs": "json",
        "schema": "json",
        "request": "json",
    }
    operator_extra_links: Collection[BaseOperatorLink] = (FolderLink(),)
    # Number of days before the days of the run.
    lookback: int = 0
    # Of the running task; never part of the serialized DAG.
    _hook: DataAccessHook | None = None
    _client: Client | None = None

    def __init__(self, *, retry_permission_denied: bool = False, **options: Any) -> None:
        """Takes whether Airflow retries a task whose token was refused: its secrets backend may have a new one soon."""
        super().__init__(**options)
        self.retry_permission_denied = retry_permission_denied

    def connect(self) -> Client:
        """Makes the client of this task."""
        self._hook = DataAccessHook(self.dataaccess_conn_id)
        self._client = self._hook.get_conn()
        return self._client

    def without_useless_retries(self) -> AbstractContextManager[None]:
        """A block whose permanent errors end the task, whatever its `retries` are."""
        return without_useless_retries(retry_permission_denied=self.retry_permission_denied)

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
                with self.without_useless_retries():
                    return DataAccessHook(conn_id).get_conn().timezone

            context = cast("Context", {**context, "dataaccess": RunDays(context, timezone, self.lookback)})
        return super().render_template(content, context, jinja_env, seen_oids)

    def describe_outlets(self, context: Context, figures: dict[str, Any]) -> None:
        """Adds figures to the asset events of this task, and what it wrote to its lineage."""
        target = figures.get("folder", figures.get("path"))
        if self._hook is not None and self._client is not None and target is not None:
            record_lineage(self._hook, self._client.base_url, target)
        for outlet in self.outlets:
            if isinstance(outlet, Asset):
                context["outlet_events"][outlet].extra.update(figures)
