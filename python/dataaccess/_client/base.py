"""The common part of both clients: settings, the native client, copies and pickles. Nothing here waits."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from dataaccess._client.checked import UNUSED_URL, Refused, Settings, origin
from dataaccess._client.given import find_profile, noting_arguments
from dataaccess._client.settings import SETTINGS
from dataaccess._client.sources import Sources
from dataaccess._client.validation import Validation
from dataaccess._client.variables import (
    OF_ENVIRONMENT,
    TOKEN_FILE,
    file_of_environment,
    token_variable,
    value_of_environment,
    warn_of_unknown_variables,
)
from dataaccess._core.embedded import (
    address_of,
    embedded,
    embedded_name,
    is_sandbox,
    may_warn_of_zone,
    note_days_without_zone,
)
from dataaccess._core.tracebacks import at_line, at_the_caller, suggestion
from dataaccess._core.warn import warn_caller, warn_of_recording
from dataaccess._native import ENVIRONMENT, RawClient, RawToken, check_settings
from dataaccess.errors import ConfigError, DataAccessWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import timedelta
    from typing import Any, Self, Unpack
    from zoneinfo import ZoneInfo

    from dataaccess._types import AttrsFormat, ClientSettings, CodeValueType, DayComparison, ItemTypes, Token
    from dataaccess.reports import ClientStats, Setting


class BaseClient(Validation):
    """A client's settings and its native half."""

    _settings: Settings
    _token: RawToken
    _raw: RawClient
    _embedded: str | None
    _is_sandbox: bool
    _service: object = None
    _sources: Sources
    # The names of the arguments, while it is made.
    _given: set[str]

    @noting_arguments
    @at_line
    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: Token | None = None,
        profile: str | None = None,
        timezone: str | ZoneInfo = "UTC",
        source_timezone: str | ZoneInfo = "UTC",
        day_comparison: DayComparison = "exclusive",
        code_value_type: CodeValueType | None = None,
        timeout: float | timedelta = 300,
        retry_for: float | timedelta = 60,
        retries: int | None = None,
        concurrency: int | None = 8,
        requests_per_second: float | None = None,
        max_response_bytes: int = 8 * 2**30,
        max_result_bytes: int | None = None,
        max_buffered_bytes: int = 32 * 2**20,
        ca_bundle: str | os.PathLike[str] | None = None,
        proxy: str | None = None,
        allow_http: bool = False,
        headers: Mapping[str, str] | None = None,
        item_types: ItemTypes | None = None,
        strict_empty: bool = False,
        attrs_format: AttrsFormat = "array",
        known_row_cap: int | None = None,
        export_success_codes: Iterable[int | str] | int | str = (200,),
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        """Checks the settings; connects to nothing."""
        refused = Refused()
        try:
            settings = Settings.of(locals())
            # Another address, token or profile is looked up.
            given = self._given - {"token", "profile"} - ({"base_url"} if base_url is None else set())
            found = find_profile(profile, base_url)
            sources = self._sources = Sources(given, profile, found)
            if found is not None or not (embedded_name(base_url) or is_sandbox(base_url)):
                warn_of_unknown_variables()
                for setting in OF_ENVIRONMENT:
                    if (value := refused.keep(partial(value_of_environment, setting), given)) is not None:
                        settings[setting] = value
                        sources.of_environment.add(setting)
            if found is not None:
                sources.of_profile = found.fill(settings, given)
            address = settings["base_url"]
            settings.check(settings, refused)
            name = embedded_name(address)
            held = refused.keep(partial(self._found_token, address), token) if name is None else None
        finally:
            # No frame holds a secret from here on: a traceback with locals cannot show it.
            token = proxy = headers = base_url = address = None
        self._start(settings, held, name, None, refused)

    def _found_token(self, base_url: str | None, token: Token | None) -> RawToken:
        """The token of the argument; else of the environment or of the profile, the first that is for this address.

        If the environment or the profile names an address, the token of the environment is for that one alone.
        """
        if token is not None:
            return RawToken(token)
        sources, variable = self._sources, os.environ.get("DATAACCESS_BASE_URL")
        profile, token_of = sources.profile, token_variable()
        # The core reports what is wrong with an address that it refuses.
        here = origin(base_url or variable)
        of_profile = None if profile is None else profile.settings.get("base_url")
        named = variable or of_profile
        is_elsewhere = here is not None and named is not None and origin(named) != here
        if token_of and not is_elsewhere:
            if profile is not None and profile.token is not None and "base_url" in sources.of_profile:
                message = f"the token of {token_of} is sent to the address of {profile}, which has its own"
                warn_caller(f"{message}: unset {token_of} if it is for another service", DataAccessWarning)
            sources.token_variable = token_of
            return RawToken(file_of_environment() if token_of == TOKEN_FILE else None)
        if profile is not None and profile.token is not None:
            sources.is_token_of_profile = True
            return RawToken(profile.token_for(base_url))
        if token_of:
            # It is for another address.
            source = "DATAACCESS_BASE_URL" if variable else str(profile)
            raise ConfigError(
                f"token is not set: the token of {token_of} is for the address of {source}, and {here} is another; "
                "set token"
            )
        return RawToken(None)

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
        elif is_sandbox(settings["base_url"]):
            settings = Settings(settings, base_url=address_of(settings["base_url"]))
        cleared = (SETTINGS[name].variables for name in self._sources.given if settings[name] is None)
        self._is_sandbox = name is not None or is_sandbox(settings["base_url"])
        ignored = ENVIRONMENT if self._is_sandbox else [variable for variables in cleared for variable in variables]
        given = [name for name in ("timezone", "retry_for") if self._sources.of(name) != "default"]
        settings = Settings({"ignored_variables": ignored, **settings, "given": given})
        if refused or token is None:
            # The problems that the core finds come first.
            all_refused = Refused()
            all_refused.keep(check_settings, settings)
            all_refused.add(refused)
            raise all_refused.error()
        self._token = token
        self._raw = RawClient(self._token, settings, like)
        if settings["record"] is not None:
            warn_of_recording(settings["record"])

    def _keep(self, service: object) -> None:
        """Keeps a service alive as long as this client."""
        self._service = service

    def _note_days(self, body: Callable[[], dict[str, Any]] | None = None) -> None:
        """Notes days whose zone nobody set, for a warning.

        `body` makes the body of a search that may have no condition on a day.
        """
        if not may_warn_of_zone() or self._sources.of("timezone") != "default" or self.is_sandbox:
            return
        groups = [] if body is None else body()["filters"]["OR"]
        if body is None or any("time_unit" in condition for group in groups for condition in group["AND"]):
            note_days_without_zone(self)

    @property
    def base_url(self) -> str:
        """Address of the service."""
        return self._raw.base_url

    @property
    def is_closed(self) -> bool:
        """Whether the client was closed: it then refuses each call."""
        return self._raw.is_closed

    @property
    def is_sandbox(self) -> bool:
        """Whether the service is a sandbox, whose data is synthetic.

        One that another process serves is recognized by its first response.
        """
        return self._is_sandbox or self._raw.has_met_sandbox()

    @property
    def timezone(self) -> str:
        """IANA name of the time zone of days, and of times without a zone that you give."""
        zone: str = self._settings["timezone"]
        return zone

    @property
    def source_timezone(self) -> str:
        """IANA name of the time zone of the times in records."""
        zone: str = self._settings["source_timezone"]
        return zone

    @property
    def day_comparison(self) -> str:
        """What the service compares for `after_date` and `before_date`: "exclusive" or "inclusive"."""
        comparison: str = self._settings["day_comparison"]
        return comparison

    @property
    def item_types(self) -> dict[str, Any]:
        """Names of business objects with their ids, or with ids and attributes, as `item_types=` has them."""
        return dict(self._settings["item_types"])

    def attributes(self, item_type_name: str) -> dict[str, str]:
        """Returns the attributes of a business object and their types: what you declared in `item_types=`.

        The API specification shows no request that lists attributes. Ask the administrator of the platform for them.

        Args:
            item_type_name: "promotion_code", or a name of `item_types=`.

        Returns:
            A dict of names and types, as `schema=` takes them.

        Raises:
            ConfigError: `item_types=` has no attributes of this object.

        Examples:
            >>> import dataaccess as da
            >>> declared = {"id": -1003, "attributes": {"customer_id": "string", "opened": "timestamp"}}
            >>> client = da.Client("sandbox:demo", item_types={"customer": declared})
            >>> client.attributes("customer")
            {'customer_id': 'string', 'opened': 'timestamp'}
        """
        from dataaccess._client.item_types import declared_attributes

        with at_the_caller:
            return declared_attributes(item_type_name, self._settings["item_types"])

    @property
    def _success(self) -> tuple[str, ...]:
        """The codes of export entries that succeeded, as they are compared."""
        from dataaccess._display.segment import code_texts

        return code_texts(self._settings["export_success_codes"])

    def _setting(self, name: str) -> Any:
        """A setting of the client."""
        return self._settings[name]

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings by name, each with where it came from. Secrets are hidden.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo", timeout=30)
            >>> print(client.settings["timeout"])
            30.0 (argument)
            >>> client.settings["retry_for"].source
            'default'
        """
        address = self._embedded or self.base_url
        return self._sources.shown(self._settings, address, self._raw.origins, is_embedded=self._embedded is not None)

    @property
    def stats(self) -> ClientStats:
        """Statistics of this client, over all threads and the copies of `with_options` that share its connections.

        A forked child counts anew.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
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
            **options: Any argument of the client but `token` and `profile`. None clears a setting, also one of the
                profile.

        Returns:
            A new client. Closing one does not close the other.

        Raises:
            TypeError: A name is not a setting.
            ConfigError: A value is invalid, or `base_url` is another service and the token no callable of yours.

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
                is_fixed = name in ("token", "profile")
                advice = (
                    f"; a new {name} needs a new client"
                    if is_fixed
                    else suggestion("with_options", name, self._settings)
                )
                raise TypeError(f"with_options() got an unexpected keyword argument {name!r}{advice}")
            settings = Settings(self._settings, **options)
            given = list(options)
            # As in `__init__`: no frame holds a secret from here on.
            options = {}
            refused = Refused()
            settings.check(given, refused)
            copy = object.__new__(type(self))
            copy._service = self._service
            sources = copy._sources = self._sources.with_arguments(given)
            if settings["base_url"] is None:
                # Another one is looked up.
                sources.given.discard("base_url")
            if "base_url" in given and sources.profile is not None:
                for name in sources.of_profile & sources.profile.unfit(settings["base_url"]):
                    settings[name] = SETTINGS[name].default
                    sources.of_profile.discard(name)
            embedded = embedded_name(settings["base_url"]) if "base_url" in given else self._embedded
            copy._start(settings, self._token, embedded, self._raw, refused)
            copy._check_origin(self)
            return copy

    def _check_origin(self, original: BaseClient) -> None:
        """Refuses to send the token of another client to another service: only a callable may know both."""
        function = self._token.callable
        may_know_both = function is not None and not getattr(function, "is_of_one_service", False)
        if self._token is not original._token or may_know_both:
            return
        here, there = origin(self.base_url), origin(original.base_url)
        if here != there:
            raise ConfigError(
                f"base_url may not change: the token for {there} would go to {here}: make a new client for {here}, or "
                "give token as a callable"
            )

    @property
    def _token_source(self) -> str:
        if self._embedded is not None:
            return "the sandbox"
        if self._sources.is_token_of_profile and self._sources.profile:
            return f"profile {self._sources.profile.name}"
        return "environment" if self._sources.token_variable else self._token.source

    @classmethod
    def _unpickled(cls, settings: dict[str, Any], profile: str | None, token: Callable[[], Any] | None) -> Self:
        return cls(**settings, profile=profile, token=token)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments and the source of the token, never the token; a profile is looked up again."""
        if secret := self._settings.secret(self._sources.given):
            raise TypeError(
                f"a {type(self).__name__} with {secret} does not pickle, as the pickle would hold the secret: "
                "make the client where it runs"
            )
        if self._embedded is not None or self._sources.token is not None:
            token = None
        elif self._token.source == "callable":
            token = self._token.callable
        else:
            raise TypeError(
                f"a {type(self).__name__} with a literal token does not pickle, as the pickle would hold the token: "
                "set DATAACCESS_TOKEN where it runs, or pass a module-level callable such as "
                "dataaccess.token_file(path)"
            )
        # Built last: the frame of an error has no header.
        given = {name: self._settings[name] for name in sorted(self._sources.given)}
        if given.get("headers") is not None:
            given["headers"] = dict(given["headers"].pairs())
        return self._unpickled, (given, self._sources.profile_name, token)

    def _repr_html_(self) -> str:
        """The address, the source of the token and the settings that are not defaults, for notebooks."""
        from dataaccess._display.listing import listing_html

        if not hasattr(self, "_raw"):
            return f"<code>{self!r}</code>"
        rows = [
            [name, setting.value, setting.source]
            for name, setting in self.settings.items()
            if setting.source != "default"
        ]
        note = "its data is synthetic" if self.is_sandbox else "closed" if self.is_closed else ""
        return listing_html(
            f"{type(self).__name__} of {self._embedded or self.base_url}", ["setting", "value", "from"], rows, note
        )

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback with locals may show a client whose settings were refused.
            return f"{type(self).__name__}(unfinished)"
        where = repr(self._embedded or self.base_url)
        return f"{type(self).__name__}({where}, token from {self._token_source})"
