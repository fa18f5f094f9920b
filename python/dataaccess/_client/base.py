"""What both clients share: arguments of searches, constructor, settings, copies and pickles. Nothing here waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from dataaccess._client.resolve import ARGUMENT, DEFAULT, SANDBOX, Settings, check_names, origin, resolve
from dataaccess._client.settings import PROFILE
from dataaccess._contract import ITEM_TYPES
from dataaccess._core.checks import call_timeout, invalid
from dataaccess._core.embedded import may_warn_of_zone, note_days_without_zone
from dataaccess._core.host import hosted
from dataaccess._core.log import print_as_environment_asks
from dataaccess._core.secret import Secret
from dataaccess._core.warn import warn_caller
from dataaccess._native import RawClient, is_secret_header
from dataaccess._public import did_you_mean
from dataaccess._scan.outcome import warn_each
from dataaccess.errors import ConfigError, DataAccessWarning
from dataaccess.filters import Column, Expression

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._types import ClientOptions, ClientSettings, Row, TimeCondition, Token, ValuesOrOperator, Where
    from dataaccess.reports import ClientStats, Setting


class BaseClient:
    """A client's settings and its native half."""

    # A service that lives as long as this client.
    _service: object = None

    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: Token | None = None,
        profile: str | None = None,
        **settings: Unpack[ClientOptions],
    ) -> None:
        """Checks the settings; connects to nothing."""
        given, secret = Secret({"base_url": base_url, **settings}), None if token is None else Secret(token)
        # No frame holds a secret from here on: a traceback with locals cannot show it.
        del base_url, token, settings
        check_names(type(self).__name__, given)
        self._start(resolve(given, secret, profile))

    def _start(self, settings: Settings, like: RawClient | None = None) -> None:
        print_as_environment_asks()
        self._settings = settings
        self._raw = RawClient(settings.token, settings.of_core(), settings.problems, like)
        if settings["record"] is not None:
            record = f"the client records its exchanges in {settings['record']}"
            warn_caller(f"{record}, with customer data: delete it after use", DataAccessWarning)

    def _code_arguments(
        self,
        attrs: Iterable[str] | None,
        allocated_time: TimeCondition,
        audience_type: ValuesOrOperator | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: ValuesOrOperator | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
    ) -> dict[str, Any]:
        """The arguments of a promotion code search."""
        if callable(allocated_time):
            name = getattr(allocated_time, "__name__", "it")
            raise invalid("allocated_time", f"is a function: call it, as {name}(…)", allocated_time)
        if isinstance(allocated_time, Column | Expression):
            raise invalid("allocated_time", "takes no column: write da.on(day) without col", allocated_time)
        return {
            "attrs": attrs,
            "allocated_time": allocated_time,
            "audience_type": audience_type,
            "allocated_audience": allocated_audience,
            "code_status": code_status,
            "limit": limit,
            "timeout": call_timeout(timeout),
            "known_row_cap": self._settings["known_row_cap"],
        }

    def _item_arguments(
        self,
        item_type_name: str,
        attrs: Iterable[str],
        where: Where | None,
        item_type_id: int | None,
        limit: int | None,
        timeout: float | timedelta | None = None,
    ) -> dict[str, Any]:
        """The arguments of an item search. A name of `item_types` has the id and the attributes of its declaration."""
        known = None
        if item_type_id is None and isinstance(item_type_name, str):
            item_types = self._settings["item_types"]
            # The core suggests names of the specification.
            names = [*item_types, *ITEM_TYPES]
            if item_types and item_type_name not in names and (advice := did_you_mean(item_type_name, names)):
                unknown = f"is required for {item_type_name!r}, which item_types does not have{advice}"
                raise invalid("item_type_id", unknown)
            item_type_id = declared = item_types.get(item_type_name)
            if isinstance(declared, Mapping):
                item_type_id, known = declared["id"], declared["attributes"]
        return {
            "item_type_name": item_type_name,
            "attrs": attrs,
            "where": where,
            "item_type_id": item_type_id,
            "attrs_format": self._settings["attrs_format"],
            "limit": limit,
            "timeout": call_timeout(timeout),
            "known_row_cap": self._settings["known_row_cap"],
            "known_attributes": known,
        }

    def _note_days(self, body: Callable[[], dict[str, Any]] | None) -> None:
        """Notes days whose zone nobody set, for a warning. `body` makes a body that may have no condition on a day."""
        if not may_warn_of_zone() or self._settings.sources["timezone"] != DEFAULT or self.is_sandbox:
            return
        groups = [] if body is None else body()["filters"]["OR"]
        if body is None or any("time_unit" in condition for group in groups for condition in group["AND"]):
            note_days_without_zone(self)

    def _rows(self, found: tuple[list[Row], Any], items: dict[str, Any] | None = None) -> list[Row]:
        """The rows of a search, once its warnings are issued. `items` are the arguments if it was one for items."""
        rows, warnings = found
        # Its attributes may be an iterator that was read.
        sent = {**(items or {}), "attrs": ["id"], "known_attributes": None}
        self._note_days(None if items is None else partial(self._raw.validate, "validate_items", sent))
        warn_each(warnings)
        return rows

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
        """Whether the service is a sandbox. One of another process is recognized by its first response."""
        return self._settings.is_sandbox or self._raw.has_met_sandbox()

    @property
    def timezone(self) -> str:
        """IANA name of the time zone of days, and of times without a zone that you give."""
        return str(self._settings["timezone"])

    @property
    def source_timezone(self) -> str:
        """IANA name of the time zone of the times in records."""
        return str(self._settings["source_timezone"])

    @property
    def day_comparison(self) -> str:
        """What the service compares for `after_date` and `before_date`: "exclusive" or "inclusive"."""
        return str(self._settings["day_comparison"])

    @property
    def item_types(self) -> dict[str, Any]:
        """Names of business objects with their ids, or with ids and attributes, as the setting `item_types`."""
        return dict(self._settings["item_types"])

    def attributes(self, item_type_name: str) -> dict[str, str]:
        """Returns the attributes of a business object and their types: what you declared in `item_types`.

        The API specification shows no request that lists attributes. Ask the administrator of the platform for them.

        Args:
            item_type_name: "promotion_code", or a name of `item_types`.

        Returns:
            A dict of names and types, as `schema` takes them.

        Raises:
            ConfigError: `item_types` has no attributes of this object.

        Examples:
            >>> import dataaccess as da
            >>> declared = {"id": -1003, "attributes": {"customer_id": "string", "opened": "timestamp"}}
            >>> client = da.Client("sandbox:demo", item_types={"customer": declared})
            >>> client.attributes("customer")
            {'customer_id': 'string', 'opened': 'timestamp'}
        """
        if item_type_name == "promotion_code":
            from dataaccess._types import PROMOTION_CODE_ATTRIBUTES  # its annotations take a millisecond

            return {attribute: info.type for attribute, info in PROMOTION_CODE_ATTRIBUTES.items()}
        known = self.item_types
        if isinstance(found := known.get(item_type_name), Mapping):
            return dict(found["attributes"])
        declared = [name for name, value in known.items() if isinstance(value, Mapping)]
        is_known = item_type_name in known or item_type_name in ITEM_TYPES
        advice = "" if is_known else did_you_mean(item_type_name, [*declared, "promotion_code"])
        raise ConfigError(
            f"the attributes of {item_type_name!r} are not known{advice}: the API cannot list them; ask the "
            f'administrator of the platform, and declare them: item_types{{{item_type_name!r}: {{"id": …, '
            f'"attributes": {{"customer_id": "string"}}}}}}'
        )

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings by name, each with where it came from. Secrets are hidden.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo", timeout=30)
            >>> print(client.settings["timeout"])
            30.0 (argument)
        """
        from dataaccess.reports._figures import Setting, SettingsByName  # takes longer to load than a client to make

        found, sources = self._settings, self._settings.sources
        profile = found.profile
        by_variable = f"environment variable {PROFILE}" if profile and os.environ.get(PROFILE) else DEFAULT
        shown = {
            "base_url": Setting(found.sandbox or self.base_url, sources["base_url"]),
            "token": Setting("(hidden)", found.token_source),
            "profile": Setting(profile and profile.name, by_variable if found.profile_name is None else ARGUMENT),
            **{name: Setting(found[name], source) for name, source in sources.items() if name != "base_url"},
        }
        if (headers := found["headers"]) is not None:
            texts = {name: "(hidden)" if is_secret_header(name) else text for name, text in headers.value.items()}
            shown["headers"] = Setting(texts, sources["headers"])
        # The core alone knows which variable counts, and whether NO_PROXY exempts the service.
        for name in ("ca_bundle", "proxy"):
            used = [(value, variable) for setting, value, variable in self._raw.origins if setting == name]
            variables = ", ".join(variable for _, variable in used if variable is not None)
            source = f"environment variable {variables}" if variables else sources[name]
            shown[name] = Setting(", ".join(value for value, _ in used) or None, source)
        return SettingsByName(shown)

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
        from dataaccess.reports import ClientStats  # as in `settings`

        return ClientStats(**self._raw.stats())

    def with_options(self, **options: Unpack[ClientSettings]) -> Self:
        """Returns a copy with other settings, which shares connections if it can. Closing one does not close the other.

        Args:
            **options: Arguments of the client but `token` and `profile`. None clears a setting, also of a profile.

        Raises:
            TypeError: A name is not a setting.
            ConfigError: A value is invalid, or `base_url` is another service and the token no callable of yours.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> patient = client.with_options(timeout=900, retry_for=300)
        """
        given = Secret(options)
        # As in `__init__`.
        del options
        check_names("with_options", given)
        copy = object.__new__(type(self))
        copy._service = self._service
        copy._start(self._settings.changed(given), self._raw)
        token, function = copy._settings.token, copy._token_function
        # Only a function of the user may know the tokens of both services.
        is_of_one = function is None or getattr(function, "is_of_one_service", False)
        here, there = origin(copy.base_url), origin(self.base_url)
        if token is self._settings.token and is_of_one and here != there:
            raise ConfigError(
                f"base_url may not change: the token for {there} would go to {here}: make a new client for {here}, or "
                "give token as a callable"
            )
        return copy

    @property
    def _token_function(self) -> Callable[[], Any] | None:
        """The argument `token`, if that is a function."""
        token = self._settings.token
        return token.callable if token is not None and self._settings.token_source == ARGUMENT else None

    @property
    def _token_source(self) -> str:
        source, profile = self._settings.token_source, self._settings.profile
        if source == ARGUMENT:
            return "text" if self._token_function is None else "callable"
        named = f"profile {profile.name}" if profile is not None and source == str(profile) else "environment"
        return source if source == SANDBOX else named

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments and the source of the token, never the token; a profile is looked up again."""
        found, kind = self._settings, type(self).__name__
        values = {name: found[name] for name, source in found.sources.items() if source == ARGUMENT}
        given = Secret({name: value.value if isinstance(value, Secret) else value for name, value in values.items()})
        secrets = [f"the header {name}" for name in given.value.get("headers") or () if is_secret_header(name)]
        if "@" in (given.value.get("proxy") or ""):
            secrets = ["a password in proxy"]
        advice, token = "make the client where it runs", self._token_function
        if not secrets and token is None and found.token_source == ARGUMENT:
            secrets = ["a literal token"]
            advice = "set DATAACCESS_TOKEN where it runs, or pass a module-level callable such as da.token_file(path)"
        if secrets:
            raise TypeError(f"a {kind} with {secrets[0]} does not pickle, as the pickle would hold it: {advice}")
        arguments = {**given.value, "profile": found.profile_name, "token": token}
        return partial(type(self)._made_in, found.host, **arguments), ()

    @classmethod
    def _made_in(cls, host: str | None, **arguments: Any) -> Self:
        with hosted(host):
            return cls(**arguments)

    def _repr_html_(self) -> str:
        """The address, the source of the token and the settings that are not defaults, for notebooks."""
        from dataaccess._display.listing import listing_html  # for notebooks only

        rows = [[name, one.value, one.source] for name, one in self.settings.items() if one.source != DEFAULT]
        note = "its data is synthetic" if self.is_sandbox else "closed" if self.is_closed else ""
        head = f"{type(self).__name__} of {self._settings.sandbox or self.base_url}"
        return listing_html(head, ["setting", "value", "from"], rows, note)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback with locals may show a client whose settings were refused.
            return f"{type(self).__name__}(unfinished)"
        return f"{type(self).__name__}({self._settings.sandbox or self.base_url!r}, token from {self._token_source})"
