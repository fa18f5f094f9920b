"""The questions of a probe. Each sends at most two requests, changes nothing, and is refused or finds few records."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, date, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import dataaccess as da
from dataaccess._probe.findings import Finding
from dataaccess._probe.zone import possible_offsets, shown, zone_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess._probe.findings import ProbeReport

_SEARCH = "/access/api/item/search"
_DOWNLOAD = "/access/api/segment/download"
_EMPTY_DAY = "1990-01-01"
_NO_ID = 999_999_999_999
_CUSTOMER = -1003
# Rows of the day that are looked at.
_ROWS = 5_000
_WORD = "no_such_value"


class Questions:
    """Asks one service, and notes what it finds."""

    def __init__(self, client: da.Client, day: date, report: ProbeReport, export_id: int | None) -> None:
        """Nothing is asked yet."""
        self._client = client
        self._day = day
        self._report = report
        self._export_id = export_id
        self._rows: list[dict[str, Any]] = []
        self._seconds: list[float] = []

    def all(self) -> list[Callable[[], None]]:
        """The questions in their order; later ones use what earlier ones found."""
        return [
            self.codes_of_the_day,
            self.day_comparison,
            self.empty_result,
            self.unknown_operator,
            self.unknown_unit,
            self.unknown_export,
            self.finished_export,
            self.unknown_object,
            self.format_of_attributes,
            self.liberties,
            self.latency,
        ]

    def codes_of_the_day(self) -> None:
        """Zone of days, order of rows, and types that are not shown, from the codes of one day."""
        attributes = [*da.PROMOTION_CODE_ATTRIBUTES]
        rows = self._rows = self._timed(
            lambda: self._client.search_codes(attributes, allocated_time=da.on(self._day), limit=_ROWS)
        )
        if not rows:
            for name in ("day_zone", "day_comparison", "row_order", "last_used_type", "channel_id_type"):
                self._unknown(name, f"{self._day} has no codes: name another day")
            return
        self._zone(rows)
        ids = [row["id"] for row in rows]
        order = "id" if ids == sorted(ids) else "reverse" if ids == sorted(ids, reverse=True) else "scattered"
        if len(rows) > 2:  # noqa: PLR2004 - two rows are always in some order
            self._found("row_order", order, f"of {len(rows):,} codes")
        used = next((row["last_used_time"] for row in rows if row["last_used_time"] is not None), None)
        self._type("last_used_type", used, {str: "string", dict: "object"}, "no code of the day has a last_used_time")
        channel = next((row["channel_id"] for row in rows if row["channel_id"] is not None), None)
        self._type("channel_id_type", channel, {int: "number", str: "string"}, "no code of the day has a channel_id")

    def _zone(self, rows: list[dict[str, Any]]) -> None:
        times = [row["allocated_time"] for row in rows]
        midnight = datetime.combine(self._day, datetime.min.time(), ZoneInfo(self._client.timezone))
        offsets = possible_offsets(times, midnight.astimezone(UTC))
        seen = f"the codes are of {min(times)} to {max(times)} UTC"
        own = midnight.utcoffset()
        if len(offsets) == 1 or (own in offsets and own is not None):
            offset = offsets[0] if len(offsets) == 1 else own
            name = zone_name(offset, self._client.timezone, self._day)  # type: ignore[arg-type] # one of the two
            if name is not None:
                certainty = "" if len(offsets) == 1 else f"; {len(offsets)} offsets would do: name a busier day"
                self._found("day_zone", name, f"{seen}: {shown(offset)}{certainty}")  # type: ignore[arg-type] # as above
                self._report.settings["timezone"] = name
                return
        would = ", ".join(shown(offset) for offset in offsets) or "no offset"
        self._unknown("day_zone", f"{seen}: {would} would explain them; name a busier day")

    def day_comparison(self) -> None:
        """Whether `after_date` finds a code of the day itself: looks at one code of one customer or visitor."""
        code = next((row for row in self._rows if row["allocated_audience"] and row["audience_type"]), None)
        if code is None:
            if self._rows:
                self._unknown("day_comparison", "no code of the day has an audience to search for")
            return
        found = self._timed(
            lambda: self._client.search_codes(
                ["id"],
                allocated_time=da.after(self._day),
                audience_type=code["audience_type"],
                allocated_audience=code["allocated_audience"],
            )
        )
        is_inclusive = code["id"] in [row["id"] for row in found]
        what = "finds" if is_inclusive else "does not find"
        self._found(
            "day_comparison", "inclusive" if is_inclusive else "exclusive", f"after_date {what} a code of its day"
        )

    def empty_result(self) -> None:
        """Shape of an empty result, and the order of the members, from a day without codes."""
        envelope = self._timed(lambda: self._client.post(_SEARCH, self._codes(), idempotent=True))
        data = envelope.get("data")
        inner = data.get("data", "absent") if isinstance(data, dict) else data
        shapes = {"[]": "array", "{}": "object", "None": "null", "absent": "absent"}
        shape = shapes.get(str(inner))
        if shape is None:
            self._unknown("empty_shape", f"the search of {_EMPTY_DAY} was not empty")
        else:
            self._found("empty_shape", shape, f"of a search of {_EMPTY_DAY}")
        first = next(iter(envelope))
        self._found("key_order", "code_first" if first == "code" else "code_last", f"the first member is {first}")

    def unknown_operator(self) -> None:
        """What an operator that does not exist leads to, and how a refusal looks."""
        body = self._codes()
        body["filters"]["OR"][0]["AND"][-1]["operator"] = _WORD
        refusal = self._refusal(body)
        self._liberty("operators", refusal)
        if refusal is None:
            self._unknown("malformed_request", "nothing was refused")
        else:
            kind = "code_only" if refusal.status == 200 else "status"  # noqa: PLR2004 - HTTP
            self._found("malformed_request", kind, f"a refusal has HTTP {refusal.status} and code {refusal.code}")

    def unknown_unit(self) -> None:
        """What a unit other than DAY leads to."""
        body = self._codes()
        body["filters"]["OR"][0]["AND"][-1]["time_unit"] = "MONTH"
        self._liberty("time_unit", self._refusal(body))

    def unknown_export(self) -> None:
        """The response to an export that does not exist."""
        body = {"scope": "download", "exportId": _NO_ID}
        try:
            self._timed(lambda: self._client.post(_DOWNLOAD, body, idempotent=True))
        except da.PermissionDeniedError:
            self._unknown("unknown_export", "the token lacks the scope of downloads")
            self._export_id = None
        except da.ApiError as error:
            self._found("unknown_export", "not_found", f"HTTP {error.status}, code {error.code}")
        else:
            self._found("unknown_export", "no_entries", "a success without entries")

    def finished_export(self) -> None:
        """Statuses and types of the entries of an export."""
        if self._export_id is None:
            for name in ("finished_status", "failed_status", "finished_types"):
                self._unknown(name, "name an export that has ended: --export")
            return
        export_id = self._export_id
        entries = self._timed(lambda: self._client.download_segment(export_id))["entries"]
        ended = [entry for entry in entries if entry["endTime"] is not None]
        for name, has_failed in (("finished_status", False), ("failed_status", True)):
            of_kind = [entry for entry in ended if (str(entry["responseCode"]) != "200") == has_failed]
            if of_kind:
                self._found(
                    name, of_kind[0]["exportStatus"], f"of an entry with responseCode {of_kind[0]['responseCode']}"
                )
            else:
                self._unknown(name, f"no entry of export {export_id} is of this kind")
        if ended:
            plain = isinstance(ended[0]["responseCode"], int)
            self._found(
                "finished_types", "plain" if plain else "string", f"responseCode is {ended[0]['responseCode']!r}"
            )
        else:
            self._unknown("finished_types", f"no entry of export {export_id} has ended")

    def unknown_object(self) -> None:
        """The response to a business object that does not exist."""
        body = self._customers("0")
        body |= {"itemTypeId": _NO_ID, "itemTypeName": _WORD}
        refusal = self._refusal(body)
        seen = "an empty result" if refusal is None else f"HTTP {refusal.status}, code {refusal.code}"
        self._note("unknown_object", "found" if refusal is None else "refused", seen)

    def format_of_attributes(self) -> None:
        """Whether the attributes of a generic search are an array, a string, or either."""
        refusals = {}
        for form, attrs in (("array", ["customer_id"]), ("string", "customer_id")):
            refusals[form] = self._refusal({**self._customers(self._customer()), "attrs": attrs})
        taken = [form for form, refusal in refusals.items() if refusal is None]
        if not taken:
            self._unknown("attrs_format", f"both were refused: {refusals['array']}")
            return
        form = "both" if len(taken) == 2 else taken[0]  # noqa: PLR2004 - of two
        self._found("attrs_format", form, f"accepted as {' and as '.join(taken)}")
        if form == "string":
            self._report.settings["attrs_format"] = "string"

    def liberties(self) -> None:
        """Whether the service accepts what the specification neither shows nor forbids, in a search of one customer."""
        customer = self._customer()
        plain = self._customers(customer)

        def with_condition(**members: object) -> dict[str, Any]:
            body = deepcopy(plain)
            body["filters"]["OR"][0]["AND"][0].update(members)
            return body

        bodies = {
            "value_type": with_condition(value_type=_WORD),
            "condition_type": with_condition(condition_type=_WORD),
            "equals_values": with_condition(operator="equals", value=[customer, _WORD]),
            "repeated_names": {**plain, "attrs": ["customer_id", "customer_id"]},
            "declared_types": with_condition(data_type="number", value=[1]),
        }
        for name, body in bodies.items():
            refusal = self._refusal(body)
            seen = "accepted" if refusal is None else f"HTTP {refusal.status}, code {refusal.code}"
            self._note(name, "accepted" if refusal is None else "refused", seen)

    def latency(self) -> None:
        """How long the responses took. Sends nothing."""
        middle = sorted(self._seconds)[len(self._seconds) // 2]
        self._found("latency", round(middle, 3), f"the middle of {len(self._seconds)} responses, in seconds")

    def _customer(self) -> str:
        """The id of a customer of the day, or one that does not exist."""
        return next((row["allocated_audience"] for row in self._rows if row["audience_type"] == _CUSTOMER), _WORD)

    def _codes(self) -> dict[str, Any]:
        """The body of a search that finds no codes."""
        return self._client.validate_codes(["id"], allocated_time=da.on(_EMPTY_DAY))

    def _customers(self, customer: str) -> dict[str, Any]:
        """The body of a search that finds one customer."""
        return self._client.validate_items("customer", ["customer_id"], da.col("customer_id").matches([customer]))

    def _refusal(self, body: dict[str, Any]) -> da.ApiError | None:
        """The refusal of a search; None if it was accepted."""
        try:
            self._timed(lambda: self._client.post(_SEARCH, body, idempotent=True))
        except da.PermissionDeniedError:
            raise
        except da.ApiError as error:
            return error
        return None

    def _timed(self, request: Callable[[], Any]) -> Any:
        self._report.requests += 1
        began = monotonic()
        result = request()
        self._seconds.append(monotonic() - began)
        return result

    def _type(self, name: str, value: object, types: dict[type, str], missing: str) -> None:
        found = types.get(type(value))
        if found is None:
            self._unknown(name, missing if value is None else f"a value of JSON type {type(value).__name__}")
        else:
            self._found(name, found, "of a code of the day")

    def _liberty(self, name: str, refusal: da.ApiError | None) -> None:
        if refusal is None:
            self._found(name, "unmatched", "accepted; nothing was found")
        else:
            self._found(name, "refused", f"HTTP {refusal.status}, code {refusal.code}")

    def _found(self, name: str, value: str | float, detail: str) -> None:
        self._report.findings.append(Finding(name, value, detail))

    def _note(self, name: str, value: str, detail: str) -> None:
        self._report.findings.append(Finding(name, value, detail, is_switch=False))

    def _unknown(self, name: str, detail: str) -> None:
        self._report.findings.append(Finding(name, None, detail))
