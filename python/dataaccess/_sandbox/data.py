"""The objects of a `Sandbox` and their rows: declared, loaded, taken away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from dataaccess._core.arguments import text, truth, whole
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from dataaccess._native import RawSandbox


class Data:
    """What can be searched."""

    _raw: RawSandbox

    def declare(
        self,
        name: str,
        item_type_id: int,
        attributes: Mapping[str, Literal["string", "number", "datetime"]],
    ) -> None:
        """Adds a business object that can be loaded and searched.

        Declaring the same again changes nothing. An object without rows, such as `customer` at the start, may
        be declared anew with other attributes; promotion codes have those of the document.

        Args:
            name: Its `itemTypeName`.
            item_type_id: Its `itemTypeId`.
            attributes: What its attributes are, by their names. The first one identifies a record.

        Raises:
            SandboxError: The name or id is taken, or an attribute cannot be.
            ConfigError: An argument is not what it should be.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     sandbox.declare("store", 7, {"store_id": "string", "area": "number", "opened": "datetime"})
            ...     count = sandbox.load("store", [{"store_id": "s-1", "area": 250}, {"store_id": "s-2"}])
            ...     rows = sandbox.client().search_items(
            ...         "store", ["store_id", "area"], da.col("area").equals(250), item_type_id=7
            ...     )
            >>> rows
            [{'store_id': 's-1', 'area': 250}]
        """
        if not isinstance(attributes, Mapping):
            raise ConfigError(f"attributes= must be a dict of names and kinds, not of type {type(attributes).__name__}")
        kinds = [(text("attributes", key), text(f"attributes[{key!r}]", kind)) for key, kind in attributes.items()]
        self._raw.declare(text("name", name), whole("item_type_id", item_type_id, -(2**63)), kinds)

    def load(self, name: str, rows: Iterable[Mapping[str, Any]] | Any, *, replace: bool = False) -> int:
        """Adds rows to an object, all or none.

        They are found once all have come; until then the service goes on as if there were none of them, and
        whatever gives them may use it too.

        Args:
            name: Name of the object, as `promotion_code`, `customer` or a declared one.
            rows: Any iterable of dicts, or a table that has `__arrow_c_stream__`, as those of polars, pyarrow
                and pandas. What is missing or None is null; an attribute that is not declared is refused.
                Times are datetimes in whole seconds (in UTC unless they have a zone), dates, or texts
                `YYYY-MM-DD HH:MM:SS`. A `code_status` or `audience_type` of a promotion code that does not
                exist is refused.
            replace: Whether a row takes the place of an earlier one with the same identifier, which else is
                an error.

        Returns:
            How many rows were given.

        Raises:
            SandboxError: A value does not fit or an identifier is taken, told by the row, which are counted
                from 0; or the service was stopped meanwhile.
            ConfigError: `name` is no text, or `replace` not True or False.
            TypeError: `rows` is neither.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> import pandas as pd
            >>> with da.Sandbox() as sandbox:
            ...     count = sandbox.load("customer", pd.DataFrame({"customer_id": ["17", "42"]}))
            ...     count += sandbox.load("customer", [{"customer_id": "17", "name": "Ada"}], replace=True)
            >>> count
            3
        """
        if not hasattr(rows, "__arrow_c_stream__") and not isinstance(rows, Iterable):
            kind = type(rows).__name__
            advice = f"; collect() the {kind} first" if hasattr(rows, "collect") else ""
            expected = "rows must be an iterable of dicts, or a table that has __arrow_c_stream__"
            raise TypeError(f"{expected}, not of type {kind}{advice}")
        return self._raw.load(text("name", name), rows, truth("replace", replace))

    def clear(self, name: str) -> int:
        """Takes all rows of an object away; it stays declared.

        Args:
            name: Name of the object.

        Returns:
            How many rows there were.

        Raises:
            SandboxError: There is no such object, or the service was stopped.
            ConfigError: `name` is no text.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     count = sandbox.clear("promotion_code")
            ...     rows = sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
            >>> rows
            []
        """
        return self._raw.clear(text("name", name))
