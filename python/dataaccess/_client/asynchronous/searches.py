"""Searches that return rows, awaited."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dataaccess._client.base import BaseClient
from dataaccess._client.results import checked_rows
from dataaccess._core.arguments import code_arguments, item_arguments
from dataaccess._core.progress import follow_async, no_updates
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._scan.outcome import progress_of

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._types import (
        Attributes,
        AttrsFormat,
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        ItemTypeName,
        Row,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )


@short_tracebacks
class AsyncSearches(BaseClient):
    """Searches whose rows are a list of dicts."""

    async def search_codes(
        self,
        attrs: CodeAttributes | None = None,
        *,
        allocated_time: TimeCondition,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
        known_row_cap: int | None = None,
    ) -> list[Row]:
        """Searches promotion codes and returns the rows as dicts. The token needs the scope `item`.

        Args:
            attrs: Names of the attributes to return, of `da.PROMOTION_CODE_ATTRIBUTES`; None is all but `channel_id`.
            allocated_time: `da.since(day)` or `da.until(day)` (that day included), `da.after(t)` or `da.before(t)`
                (that day excluded), `da.on(day)`, `da.yesterday()`, `da.op(operator, t)`, or `da.days(start, stop)`,
                `da.month(text)` or `da.last_days(count)` for one request per day, with the rows in the order of the
                days.
            audience_type: -1003 or "customer", -1007 or "visitor", or several. It needs `allocated_audience`:
                without it the service returns no rows.
            allocated_audience: One id of a customer or visitor, or several; an integer is sent as a string.
            code_status: 1 or "available", 3 or "sent", 4 or "used", or several: the status that a code has now. The
                API specification does not show which status follows which.
            limit: Number of rows, at most. The rest of the response is not transferred where that is safe.
            timeout: Seconds, or a timedelta, for the whole call: all days of `da.days` and all retries together; None
                is that of the client.
            known_row_cap: A number of rows at which the service is known to cap responses: a response of that size
                is reported (`IncompleteWarning`). None is the client's. Without either, equal highest or round
                numbers of rows are.

        Returns:
            A list of dicts with the attributes as keys, in the order of `attrs`, and the values as the service sends
            them; a value that is not set is None. `pandas.DataFrame(rows)` accepts it.

        Raises:
            ValidationError: The request breaks a rule of the API specification; all problems are reported together.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> condition = da.after("2024-01-31")
            >>> rows = await client.search_codes(["code_status"], allocated_time=condition, code_status="used")
            >>> rows[0]
            {'code_status': 4}
        """
        arguments = code_arguments(
            attrs,
            allocated_time,
            audience_type,
            allocated_audience,
            code_status,
            limit,
            timeout,
            self._cap(known_row_cap),
        )
        with follow_async(None, "search_codes", partial(progress_of, self), self._raw.waits_for) as report:
            result = await self._raw.search_codes_async(arguments, report)
        self._note_days()
        return checked_rows(result)

    async def search_items(
        self,
        item_type_name: ItemTypeName,
        attrs: Attributes,
        where: Where | None = None,
        *,
        item_type_id: int | None = None,
        attrs_format: AttrsFormat | None = None,
        limit: int | None = None,
        timeout: float | timedelta | None = None,
        known_row_cap: int | None = None,
    ) -> list[Row]:
        """Searches the items of a business object and returns the rows as dicts.

        Args:
            item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
            attrs: Names of the attributes to return.
            where: An expression of `da.col(name)`, or the raw filters `{"OR": [{"AND": […]}]}`. None: no condition.
            item_type_id: Id of the business object; not needed for customers, promotion codes and `item_types` of the
                client.
            attrs_format: "array" sends the names as an array, "string" as one comma-separated string: the API
                specification describes both. None is the client's. Promotion codes always take the array.
            limit: Number of rows, at most. The rest of the response is not transferred where that is safe.
            timeout: Seconds, or a timedelta, for this call with its retries; None is the client's.
            known_row_cap: A number of rows at which the service is known to cap responses: a response of that size
                is reported (`IncompleteWarning`). None is the client's. Without either, equal highest or round
                numbers of rows are.

        Returns:
            A list of dicts with the attributes as keys, in the order of `attrs`, and the values as the service sends
            them; a value that is not set is None. `pandas.DataFrame(rows)` accepts it.

        Raises:
            ValidationError: The request breaks a rule of the API specification; all problems are reported together.
                Promotion codes follow the rules of `search_codes` here too.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> who = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0002"])
            >>> rows = await client.search_items("customer", ["customer_id"], who)
            >>> [row["customer_id"] for row in rows]
            ['demo-customer-0001', 'demo-customer-0002']
        """
        arguments = item_arguments(
            item_type_name,
            attrs,
            where,
            item_type_id,
            attrs_format,
            limit,
            self.item_types,
            timeout,
            self._cap(known_row_cap),
            usual_format=self._setting("attrs_format"),
        )
        with follow_async(None, "search_items", no_updates, self._raw.waits_for) as report:
            result = await self._raw.search_items_async(arguments, report)
        self._note_days(partial(self._sent, arguments))
        return checked_rows(result)
