"""The common part of both clients: settings, the native client, copies and pickles. Nothing here waits."""

from __future__ import annotations

from importlib import import_module

from dataaccess._client.settings import UNUSED_URL, Refused, Settings, origin
from dataaccess._client.validation import Validation
from dataaccess._core.embedded import embedded, embedded_name, is_sandbox
from dataaccess._core.tracebacks import at_line, at_the_caller, did_you_mean
from dataaccess._core.warn import warn_of_recording
from dataaccess._native import RawClient, RawToken, check_settings
from dataaccess.errors import ConfigError

TYPE_CHECKING = False

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from datetime import timedelta
    from typing import Any, Self, Unpack
    from zoneinfo import ZoneInfo

    from dataaccess.reports import ClientStats
    from dataaccess.types import ClientSettings, Token


class Connection(Validation):
    """A client's settings and its native half."""

    _settings: Settings
    _token: RawToken
    _raw: RawClient
    _embedded: str | None
    _service: object = None

    @at_line
    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: Token | None = None,
        timezone: str | ZoneInfo = "UTC",
        timeout: float | timedelta = 300,
        retry_for: float | timedelta = 60,
        retries: int | None = None,
        concurrency: int | None = 8,
        requests_per_second: float | None = None,
        max_response_bytes: int = 8 * 2**30,
        max_buffered_bytes: int = 64 * 2**20,
        ca_bundle: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        allow_http: bool = False,
        headers: Mapping[str, str] | None = None,
        item_types: Mapping[str, int] | None = None,
        strict_empty: bool = False,
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        """Checks the settings; connects to nothing."""
        refused = Refused()
        try:
            settings = Settings(
                base_url=base_url,
                timezone=timezone,
                timeout=timeout,
                retry_for=retry_for,
                retries=retries,
                concurrency=concurrency,
                requests_per_second=requests_per_second,
                max_response_bytes=max_response_bytes,
                max_buffered_bytes=max_buffered_bytes,
                ca_bundle=ca_bundle,
                proxy=proxy,
                allow_http=allow_http,
                headers=headers,
                item_types=item_types,
                strict_empty=strict_empty,
                record=record,
            )
            settings.check(settings, refused)
            name = embedded_name(base_url)
            held = refused.keep(RawToken, token) if name is None else None
        finally:
            # No frame holds a secret from here on: a traceback with locals cannot show it.
            token = proxy = headers = base_url = None
        self._start(settings, held, name, None, refused)

    def _start(
        self, settings: Settings, token: RawToken | None, name: str | None, like: RawClient | None, refused: Refused
    ) -> None:
        # The first call may find no file descriptor left to import it, and `import dataaccess` must stay fast.
        import_module("dataaccess._core.log")
        self._settings = settings
        self._embedded = name
        if name is not None:
            address, issued = refused.keep(embedded, name) or (UNUSED_URL, None)
            settings = Settings(settings, base_url=address)
            token = None if issued is None else RawToken(issued)
        if refused or token is None:
            # The problems that the core finds come first.
            all_refused = Refused()
            all_refused.keep(check_settings, settings)
            all_refused.add(refused)
            all_refused.raise_all()
        self._token = token  # type: ignore[assignment] # None is refused
        self._raw = RawClient(self._token, settings, like)
        if settings["record"] is not None:
            warn_of_recording(settings["record"])

    def _keep(self, service: object) -> None:
        """Keeps a service alive as long as this client."""
        self._service = service

    @property
    def base_url(self) -> str:
        """Address of the service."""
        return self._raw.base_url

    @property
    def is_sandbox(self) -> bool:
        """Whether the service is the sandbox, whose data is synthetic."""
        return self._embedded is not None or is_sandbox(self._raw.base_url)

    @property
    def timezone(self) -> str:
        """IANA name of the time zone in which times without a zone are read."""
        zone: str = self._settings["timezone"]
        return zone

    @property
    def item_types(self) -> dict[str, int]:
        """Names and ids of business objects, in addition to customers and promotion codes."""
        return dict(self._settings["item_types"])

    @property
    def stats(self) -> ClientStats:
        """Statistics of this client, over all threads and the copies of `with_options` that share its connections.

        A forked child counts anew.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> rows = client.search_codes(allocated_time=da.on("2024-01-15"), limit=2)
            >>> stats = client.stats
            >>> stats.requests, stats.retries, stats.connections_opened
            (1, 0, 1)
        """
        from dataaccess.reports import ClientStats

        return ClientStats(**self._raw.stats())

    def with_options(self, **options: Unpack[ClientSettings]) -> Self:
        """Returns a copy with other settings. It shares the connections if the settings allow it.

        Args:
            **options: Any argument of the client but `token`.

        Returns:
            A new client. Closing one does not close the other.

        Raises:
            TypeError: A name is not a setting.
            ConfigError: A value is invalid, or `base_url` is another service and the token is not a callable.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> patient = client.with_options(timeout=900, retry_for=300)
        """
        with at_the_caller:
            unknown = options.keys() - self._settings.keys()
            if unknown:
                name = min(unknown)
                # One of them may be a token.
                options = {}
                advice = "; a new token needs a new client" if name == "token" else did_you_mean(name, self._settings)
                raise TypeError(f"with_options() got an unexpected keyword argument {name!r}{advice}")
            settings = Settings(self._settings, **options)
            given = list(options)
            # As in `__init__`: no frame holds a secret from here on.
            options = {}
            refused = Refused()
            settings.check(given, refused)
            copy = object.__new__(type(self))
            copy._service = self._service
            embedded = embedded_name(settings["base_url"]) if "base_url" in given else self._embedded
            copy._start(settings, self._token, embedded, self._raw, refused)
            copy._check_origin(self)
            return copy

    def _check_origin(self, original: Connection) -> None:
        """Refuses to send the token of another client to another service: only a callable may know both."""
        if self._token is not original._token or self._token.source == "callable":
            return
        here, there = origin(self.base_url), origin(original.base_url)
        if here != there:
            raise ConfigError(
                f"with_options(base_url=…) would send the token for {there} to {here}: make a new client for {here}, "
                "or give token= as a callable"
            )

    @property
    def _token_source(self) -> str:
        return "the sandbox" if self._embedded is not None else self._token.source

    @classmethod
    def _unpickled(cls, settings: dict[str, Any], token: Callable[[], Any] | None) -> Self:
        headers = settings["headers"]
        return cls(**{**settings, "headers": None if headers is None else dict(headers)}, token=token)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the settings and the source of the token, never the token."""
        if secret := self._settings.secret():
            raise TypeError(
                f"a {type(self).__name__} with {secret} does not pickle, as the pickle would hold the secret: "
                "make the client where it runs"
            )
        if self._embedded is not None or self._token.source == "environment":
            token = None
        elif self._token.source == "callable":
            token = self._token.callable
        else:
            raise TypeError(
                f"a {type(self).__name__} with a literal token does not pickle, as the pickle would hold the token: "
                "set DATAACCESS_TOKEN where it runs, or pass a module-level callable such as "
                "dataaccess.token_file(path)"
            )
        return self._unpickled, (dict(self._settings), token)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback with locals may show a client whose settings were refused.
            return f"{type(self).__name__}(unfinished)"
        where = repr(self._embedded or self.base_url)
        return f"{type(self).__name__}({where}, token from {self._token_source})"
