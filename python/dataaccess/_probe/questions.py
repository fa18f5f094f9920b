"""All open points: how each is settled, or why a probe leaves it alone."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dataaccess._probe import codes, customers, exports
from dataaccess._probe.shapes import NotSettledError, json_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess._probe.session import Session
    from dataaccess.errors import ApiError

    Question = Callable[[Session], tuple[Any, str]]

_HTTP_OK = 200


def malformed_request(session: Session) -> tuple[str, str]:
    """How a refusal of a malformed request looks. Sends nothing."""
    if not session.malformed:
        raise NotSettledError("no malformed request was refused")
    seen = " and ".join(dict.fromkeys(map(codes.refusal, session.malformed)))
    kinds = {"code_only" if each.status == _HTTP_OK else "status" for each in session.malformed}
    if len(kinds) > 1 or any(each.code is None for each in session.malformed):
        raise NotSettledError(seen)
    return kinds.pop(), seen


def refusal_data(session: Session) -> tuple[str, str]:
    """What `data` of a refusal is. Sends nothing."""
    types = [kind for each in session.refusals if (kind := _type_of_data(each)) is not None]
    if not types:
        seen = " and ".join(dict.fromkeys(map(codes.refusal, session.refusals))) or "nothing was refused"
        raise NotSettledError(f"no envelope of a refusal with an error status: {seen}")
    return " or ".join(dict.fromkeys(types)), f"refusals seen: {len(types)}"


def _type_of_data(error: ApiError) -> str | None:
    """Read from the excerpt of an envelope, which may be cut off in its last member."""
    excerpt = error.body_excerpt or ""
    beginning = excerpt.removesuffix("…")
    is_whole = beginning == excerpt
    for end in [""] if is_whole else ['"}', "}"]:
        with suppress(ValueError):
            body = json.loads(beginning + end)
            if isinstance(body, dict):
                return json_type(body["data"]) if "data" in body else "absent" if is_whole else None
    return None


def latency(session: Session) -> tuple[float, str]:
    """How long the responses took. Sends nothing."""
    if not session.seconds:
        raise NotSettledError("no request succeeded")
    middle = sorted(session.seconds)[len(session.seconds) // 2]
    return round(middle, 3), f"the middle of {len(session.seconds)} responses, in seconds"


# In the order of their requests. The last three look at what the others caused.
QUESTIONS: list[Question] = [
    codes.value_type,
    codes.day_zone,
    codes.day_equals,
    codes.source_timezone,
    codes.maximum_rows,
    codes.row_order,
    codes.last_used_type,
    codes.channel_id_type,
    codes.day_comparison,
    codes.empty_shape,
    codes.key_order,
    codes.operators,
    codes.time_unit,
    codes.seconds,
    codes.code_condition_type,
    codes.extend_value,
    exports.unknown_export,
    exports.download_scope,
    exports.finished_status,
    exports.failed_status,
    exports.failed_code,
    exports.finished_types,
    exports.end_time_type,
    exports.exported_rows_type,
    customers.attrs_format,
    customers.attrs_separator,
    customers.unknown_attribute,
    customers.generic_scope,
    customers.unknown_object,
    customers.generic_operators,
    customers.value_types,
    customers.condition_type,
    customers.data_types,
    customers.string_comparison,
    customers.equals_values,
    customers.repeated_names,
    customers.declared_types,
    malformed_request,
    refusal_data,
    latency,
]

NOT_ASKED = {
    "gzip": "a client reads compressed and plain responses alike, and shows no headers",
    "no_conditions": "the search could find every record",
    "empty_values": "a client sends no empty list",
    "member_defaults": "a client sends both members wherever the specification shows them",
    "content_type": "a client always sends application/json",
    "generic_codes": "the search could find every promotion code",
    "pool_id_fraction": "the codes of one day do not show it",
    "bearer_case": "a client sends Bearer",
    "other_statuses": "a client sends no such request",
    "positions": "a client sends conditions in the order of their positions",
    "null_values": "an empty response does not show a null",
    "code_transitions": "a probe changes nothing and does not wait",
    "search_refusal": "a probe needs a token that may search",
    "refusal_members": "a client does not keep the duration of a refusal",
    "list_sizes": "a probe sends small requests",
    "rates": "a probe sends few requests",
    "token_lifetime": "ask who issues the tokens, and give a client a callable or a file",
}
