"""Requests that are checked and not sent: neither an address nor a token is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._client.settings import SETTINGS
from dataaccess._core.arguments import code_arguments, item_arguments
from dataaccess._core.suggest import Suggesting
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._native import validate_codes, validate_items

if TYPE_CHECKING:
    from typing import Any

    from dataaccess._types import (
        Attributes,
        AttrsFormat,
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        ItemTypeName,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )


@short_tracebacks
class Validation(Suggesting):
    """Checks the arguments of searches."""

    @property
    def timezone(self) -> str:
        """IANA name of the time zone in which times without a zone are read."""
        return "UTC"

    @property
    def day_comparison(self) -> str:
        """What the service compares for `after_date` and `before_date`: "exclusive" or "inclusive"."""
        return "exclusive"

    @property
    def item_types(self) -> dict[str, Any]:
        """Names of business objects with their ids, or with ids and attributes, as `item_types=` has them."""
        return {}

    def _setting(self, name: str) -> Any:
        """A setting of the client."""
        return SETTINGS[name].default

    def _cap(self, known_row_cap: int | None) -> int | None:
        """The argument of a call, or the setting."""
        return self._setting("known_row_cap") if known_row_cap is None else known_row_cap

    def _sent(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The body of an item search that was sent; its attributes may be an iterator that was read."""
        arguments = {**arguments, "attrs": ["id"], "known_attributes": None}
        return validate_items(arguments, self.timezone, self.day_comparison, self._setting("code_value_type"))

    def validate_codes(
        self,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Checks the arguments of `search_codes` and returns the request body. Sends nothing.

        Args:
            attrs: As in `search_codes`.
            allocated_time: As in `search_codes`.
            audience_type: As in `search_codes`.
            allocated_audience: As in `search_codes`.
            code_status: As in `search_codes`.
            limit: As in `search_codes`.

        Returns:
            The body of the request, as a dict.

        Raises:
            ValidationError: The request breaks a rule of the API specification; all problems are reported together.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> body = client.validate_codes(allocated_time=da.on("2024-01-15"))
            >>> body["filters"]["OR"][0]["AND"][0]["value"]
            1705276800000
        """
        arguments = code_arguments(attrs, allocated_time, audience_type, allocated_audience, code_status, limit)
        return validate_codes(arguments, self.timezone, self.day_comparison, self._setting("code_value_type"))

    def validate_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        attrs_format: AttrsFormat | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Checks the arguments of `search_items` and returns the request body. Sends nothing.

        Args:
            item_type_name: As in `search_items`.
            attrs: As in `search_items`.
            where: As in `search_items`.
            item_type_id: As in `search_items`.
            attrs_format: As in `search_items`.
            limit: As in `search_items`.

        Returns:
            The body of the request, as a dict.

        Raises:
            ValidationError: The request breaks a rule of the API specification; all problems are reported together.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> body = client.validate_items("customer", ["name"], da.col("name").equals("x"))
            >>> body["itemTypeId"]
            -1003
        """
        arguments = item_arguments(
            item_type_name,
            attrs,
            where,
            item_type_id,
            attrs_format,
            limit,
            self.item_types,
            usual_format=self._setting("attrs_format"),
        )
        return validate_items(arguments, self.timezone, self.day_comparison, self._setting("code_value_type"))
