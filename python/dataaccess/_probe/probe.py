"""Runs a probe: all open points, and how each is settled, or why a probe leaves it alone."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dataaccess._native import SWITCHES
from dataaccess._probe import codes, customers, exports
from dataaccess._probe.findings import Finding, ProbeReport
from dataaccess._probe.session import SURVIVED, NotSettledError, Session, json_type
from dataaccess.errors import DataAccessWarning, PermissionDeniedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from dataaccess import Client
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
    "query_string": "a client sends none",
    "download_order": "a probe does not ask with a token without the scope",
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


# The most requests that a probe sends, without retries.
MOST_REQUESTS = 38
# Seconds for which a request that fails is retried, and seconds for one call.
_RETRY_FOR, _TIMEOUT = 10, 120


def probe(client: Client, day: date, *, export_id: int | None = None) -> ProbeReport:
    """Asks a service what the API specification leaves open. Reads only.

    Args:
        client: A client of the service.
        day: A day that has codes, better many than few.
        export_id: A segment export that has ended.

    Returns:
        A report with a finding for each open point. One that was not settled has no value, and says what was seen.

    Raises:
        TransportError: The service could not be reached.
        PermissionDeniedError: The first request was refused: the token is not valid, or cannot search codes.
    """
    client = client.with_options(retry_for=_RETRY_FOR, timeout=_TIMEOUT)
    session = Session(client, day, export_id)
    report = ProbeReport(client.base_url, str(day))
    report.findings += [_finding(question, session) for question in QUESTIONS]
    for name, reason in NOT_ASKED.items():
        report.findings.append(Finding(name, None, f"not asked: {reason}", is_switch=name in SWITCHES))
    if client.item_types:
        types = client.settings["item_types"]
        report.of_settings.append(Finding("item_types", types.value, f"of the {types.source}", is_switch=False))
    report.requests = session.sent
    return report


def _finding(question: Question, session: Session) -> Finding:
    name, value = question.__name__, None
    try:
        with warnings.catch_warnings():
            # The findings say the same.
            warnings.simplefilter("ignore", DataAccessWarning)
            value, detail = question(session)
    except SURVIVED as error:
        if isinstance(error, PermissionDeniedError) and session.sent == 1:
            raise
        detail = str(error)
    return Finding(name, value, detail, is_switch=name in SWITCHES)
