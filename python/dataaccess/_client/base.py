"""What both clients share: settings, the native client, pickling, and what is said of results.

It knows nothing of waiting: `client` calls the native client's synchronous half, `aio` the other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from dataaccess._core.arguments import code_arguments, item_arguments, seconds
from dataaccess._native import RawClient, RawToken, validate_codes, validate_items
from dataaccess._scan.outcome import ClientStats
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from dataaccess.types import Attributes, TimeCondition, TokenArgument, ValuesOrOperator, Where

_SANDBOX = "sandbox:"

# Parts of a header's name that tell of a secret.
_SECRET_NAMES = ("auth", "cookie", "key", "passw", "secret", "session", "token")


class _Settings(dict[str, Any]):
    """Arguments by their names. It shows none of the values that may be secret, as in a traceback with locals."""

    def __repr__(self) -> str:
        hidden = {"headers", "proxy"}
        if "@" in str(self["base_url"]):
            # It will be refused, and its password with it.
            hidden.add("base_url")
        shown = {name: value for name, value in self.items() if name not in hidden}
        return f"{shown} and {', '.join(sorted(hidden))}"

    def secret(self) -> str | None:
        """The setting that must not travel, if there is one."""
        if "@" in (self["proxy"] or ""):
            return "a password in proxy="
        names = [name for name, _ in self["headers"] or () if any(part in name.lower() for part in _SECRET_NAMES)]
        return f"the header {names[0]}" if names else None


class Connection:
    """A client's settings and its native half. `Client` and `AsyncClient` add the calls."""

    _settings: _Settings
    _token: RawToken
    _raw: RawClient
    _address: str | None
    _service: object = None

    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: TokenArgument = None,
        timezone: str = "UTC",
        timeout: float | timedelta = 300,
        retries: int | None = None,
        concurrency: int = 8,
        rate: float | None = None,
        max_response_bytes: int = 8 * 2**30,
        max_buffered_bytes: int = 64 * 2**20,
        ca_bundle: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        allow_http: bool = False,
        headers: Mapping[str, str] | None = None,
        strict: bool = False,
    ) -> None:
        """Checks the settings; connects to nothing. `Client` describes them."""
        try:
            settings = _Settings(
                base_url=base_url,
                timezone=timezone,
                timeout=seconds(timeout),
                retries=retries,
                concurrency=concurrency,
                rate=rate,
                max_response_bytes=max_response_bytes,
                max_buffered_bytes=max_buffered_bytes,
                ca_bundle=ca_bundle,
                proxy=proxy,
                allow_http=allow_http,
                headers=_pairs(headers),
                strict=strict,
            )
            address = _sandbox_address(base_url)
            held = RawToken(token) if address is None else None
        finally:
            # From here on no frame holds a secret: a traceback with locals cannot show it.
            token = proxy = headers = base_url = None
        self._start(settings, held, address, like=None)

    def _start(
        self,
        settings: _Settings,
        token: RawToken | None,
        address: str | None,
        like: RawClient | None,
    ) -> None:
        # Not with the package, whose import is to be light, nor with the first call, which may find no file to open.
        import_module("dataaccess._core.log")
        self._settings = settings
        self._address = address
        if address is not None:
            from dataaccess.sandbox import shared_sandbox

            sandbox, issued = shared_sandbox(address)
            settings = _Settings(settings, base_url=sandbox.base_url)
            token = RawToken(issued)
        elif token is None:
            token = RawToken(None)
        self._token = token
        self._raw = RawClient(token, settings, like)

    def _keep(self, service: object) -> None:
        """Holds a service that must live as long as this client."""
        self._service = service

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return self._raw.base_url

    @property
    def is_sandbox(self) -> bool:
        """Whether the service is the embedded one, whose data is made up."""
        from dataaccess.sandbox import is_sandbox_address

        return self._address is not None or is_sandbox_address(self._raw.base_url)

    @property
    def timezone(self) -> str:
        """IANA name of the zone in which times without a zone are read."""
        zone: str = self._settings["timezone"]
        return zone

    def validate_codes(
        self,
        attrs: Attributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: ValuesOrOperator | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: ValuesOrOperator | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Checks the arguments of `search_codes` and sends nothing.

        Args:
            attrs: As for `search_codes`.
            allocated_time: As for `search_codes`.
            audience_type: As for `search_codes`.
            allocated_audience: As for `search_codes`.
            code_status: As for `search_codes`.
            limit: As for `search_codes`.

        Returns:
            The body that would be sent, as a dict (section 4.2).

        Raises:
            ValidationError: As for `search_codes`.

        Example:
            >>> import dataaccess as da
            >>> body = da.Client("sandbox:demo").validate_codes(allocated_time=da.on("2024-01-15"))
            >>> body["filters"]["OR"][0]["AND"][0]["value"]
            1705276800000
        """
        arguments = code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return validate_codes(arguments, self.timezone)

    def validate_items(
        self,
        item_type_name: str,
        attrs: Attributes,
        where: Where,
        *,
        item_type_id: int | None = None,
        attrs_as: str = "array",
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Checks the arguments of `search_items` and sends nothing.

        Args:
            item_type_name: As for `search_items`.
            attrs: As for `search_items`.
            where: As for `search_items`.
            item_type_id: As for `search_items`.
            attrs_as: As for `search_items`.
            limit: As for `search_items`.

        Returns:
            The body that would be sent, as a dict (section 4.1).

        Raises:
            ValidationError: As for `search_items`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> body = client.validate_items("customer", ["name"], da.col("name").equals("x"))
            >>> body["itemTypeId"]
            -1003
        """
        arguments = item_arguments(item_type_name, attrs, where, item_type_id, attrs_as, limit)
        return validate_items(arguments, self.timezone)

    def stats(self) -> ClientStats:
        """What was counted so far, over all threads that share the client.

        Returns:
            Figures of this client, and of those `with_options` made of it that share its connections. A forked
            child counts anew.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> rows = client.search_codes(allocated_time=da.on("2024-01-15"), limit=2)
            >>> stats = client.stats()
            >>> stats.requests, stats.retries, stats.connections_opened
            (1, 0, 1)
        """
        return ClientStats(**self._raw.stats())

    def with_options(self, **options: Any) -> Self:
        """A copy with some settings changed; connections are shared where the settings allow it.

        Args:
            **options: Any argument of the client but `token`, which a new client takes.

        Returns:
            A new client. Closing one does not close the other.

        Raises:
            TypeError: For a name that is no setting.
            ConfigError: For a value that cannot be used.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> patient = client.with_options(timeout=900, retries=8)
        """
        unknown = options.keys() - self._settings.keys()
        if unknown:
            name = min(unknown)
            # One of them may be a token.
            options = {}
            raise TypeError(f"with_options() has no option {name!r}; a new token needs a new client")
        settings = _Settings(self._settings, **options)
        moved, has_headers = "base_url" in options, "headers" in options
        # As in `__init__`: no frame holds a secret from here on.
        options = {}
        settings["timeout"] = seconds(settings["timeout"])
        if has_headers:
            settings["headers"] = _pairs(settings["headers"])
        copy = object.__new__(type(self))
        copy._service = self._service
        address = _sandbox_address(settings["base_url"]) if moved else self._address
        copy._start(settings, self._token, address, like=self._raw)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles settings and where the token comes from, never the token."""
        if secret := self._settings.secret():
            raise TypeError(
                f"a {type(self).__name__} with {secret} does not pickle, or it would travel along: "
                "make the client where it runs"
            )
        if self._address is not None or self._token.source == "environment":
            token = None
        elif self._token.source == "callable":
            token = self._token.callable
        else:
            raise TypeError(
                f"a {type(self).__name__} with a literal token does not pickle, or the token would travel along: "
                "set DATAACCESS_TOKEN where it runs, or give a callable of a module, as dataaccess.token_file(path)"
            )
        return _rebuild, (type(self), dict(self._settings), token)

    def __repr__(self) -> str:
        """The address and where the token comes from."""
        if not hasattr(self, "_raw"):
            # A traceback may show a client whose settings were refused.
            return f"{type(self).__name__}(unfinished)"
        where = repr(self._address or self.base_url)
        return f"{type(self).__name__}({where}, token from {self._token.source})"


def _rebuild(cls: type[Connection], settings: dict[str, Any], token: Callable[[], Any] | None) -> Connection:
    headers = settings["headers"]
    return cls(**{**settings, "headers": None if headers is None else dict(headers)}, token=token)


def _pairs(headers: object) -> list[tuple[str, str]] | None:
    """Headers as the core takes them. The error for another type does not show the value, which may be a secret."""
    if headers is None:
        return None
    if isinstance(headers, Mapping):
        return list(headers.items())
    kind, headers = type(headers).__name__, None
    raise ConfigError(f"headers= must be a dict of names and values, not of type {kind}")


def _sandbox_address(base_url: object) -> str | None:
    """`sandbox:…`, given or from the environment; None for any other address."""
    address = base_url if base_url is not None else os.environ.get("DATAACCESS_BASE_URL", "")
    return address if isinstance(address, str) and address.startswith(_SANDBOX) else None
