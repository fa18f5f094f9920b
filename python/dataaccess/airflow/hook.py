"""`DataAccessHook`: clients from an Airflow connection."""

from __future__ import annotations

import asyncio
from typing import Any

from dataaccess import AsyncClient, Client
from dataaccess._core.host import hosted
from dataaccess._core.secret import Secret
from dataaccess.airflow.compat import BaseHook, airflow_version
from dataaccess.airflow.connection import client_arguments
from dataaccess.errors import DataAccessError

# Less than a client waits for its token, so that its threads end.
_SECONDS_FOR_TOKEN = 30


class DataAccessHook(BaseHook):
    """Makes clients from an Airflow connection of the type `dataaccess`.

    The host of the connection is the base URL, its password the token; `extra` has any other argument of `Client`. An
    empty host or password comes from the worker's environment: `DATAACCESS_BASE_URL`, `DATAACCESS_TOKEN`. That token is
    not sent to a host that only the connection names.

    Args:
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.

    Examples:
        >>> hook = DataAccessHook(dataaccess_conn_id=None)  # DATAACCESS_BASE_URL=sandbox:demo
        >>> hook.get_conn().is_sandbox
        True
    """

    conn_name_attr = "dataaccess_conn_id"
    default_conn_name = "dataaccess_default"
    conn_type = "dataaccess"
    hook_name = "Data Access (customer data platform)"
    _client: Client | None = None

    def __init__(self, dataaccess_conn_id: str | None = default_conn_name, **options: Any) -> None:
        """Reads nothing yet."""
        super().__init__(**options)
        self.dataaccess_conn_id = dataaccess_conn_id

    def get_conn(self) -> Client:
        """Returns the client of the connection, the same one each time. Raises the errors of `client`.

        Examples:
            >>> DataAccessHook(None).get_conn().download_segment(5637051)["message"]
            'Success'
        """
        self._client = self._client or self.client()
        return self._client

    def client(self, **settings: Any) -> Client:
        """Makes a client of the connection.

        Args:
            **settings: Arguments of `Client` in place of those of the connection, but `token`.

        Raises:
            ConfigError: A setting is invalid, or `base_url` is another service than that of the connection.
            AirflowNotFoundException: There is no such connection.

        Examples:
            >>> client = DataAccessHook(None).client(timeout=900)
        """
        arguments, conn_id = Secret(settings), self.dataaccess_conn_id
        if conn_id is not None:
            connection = Secret(self.get_connection(conn_id))
            arguments = Secret(client_arguments(connection, settings, lambda: self.get_connection(conn_id).password))
            connection.value.extra_dejson  # noqa: B018 - masks the secrets in logs
        with hosted("airflow", airflow_version):
            return Client(**arguments.value)

    async def async_client(self, **settings: Any) -> AsyncClient:
        """As `client`, asynchronous: for triggers and async tasks.

        Examples:
            >>> import asyncio
            >>> asyncio.run(DataAccessHook(None).async_client()).is_sandbox
            True
        """
        loop, conn_id = asyncio.get_running_loop(), self.dataaccess_conn_id

        def read_token() -> Any:
            # A thread of the client calls this; the channel of the triggerer to Airflow belongs to the event loop.
            reading = asyncio.run_coroutine_threadsafe(self.aget_connection(conn_id), loop)
            try:
                return reading.result(_SECONDS_FOR_TOKEN).password
            except TimeoutError:
                message = f"the Airflow connection {conn_id!r} was not read within {_SECONDS_FOR_TOKEN} s"
                raise TimeoutError(message) from None
            finally:
                # Otherwise a secrets backend that hangs keeps a coroutine for each try.
                reading.cancel()

        arguments = Secret(settings)
        if conn_id is not None:
            # Airflow masked the secrets when it read the connection; `extra_dejson` would block the event loop.
            connection = Secret(await self.aget_connection(conn_id))
            arguments = Secret(client_arguments(connection, settings, read_token))
        with hosted("airflow", airflow_version):
            return AsyncClient(**arguments.value)

    def test_connection(self) -> tuple[bool, str]:
        """Whether address, token and scopes work, and what was found: the button "Test" of the web UI."""
        try:
            found = self.client().check()
        except DataAccessError as error:
            return False, str(error)
        if not found.is_ok and found.errors:
            # The first reason is that of the others too, as a host that cannot be reached.
            return False, str(next(iter(found.errors.values())))
        # The web UI shows one line.
        shown = (str(found.answers[name]) for name in ("address", "token", "scope item", "scope download"))
        return found.is_ok, "; ".join(" ".join(line.split()) for line in shown)
