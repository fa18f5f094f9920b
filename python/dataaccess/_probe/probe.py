"""Runs a probe."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from dataaccess._native import SWITCHES
from dataaccess._probe.findings import Finding, ProbeReport
from dataaccess._probe.questions import NOT_ASKED, QUESTIONS
from dataaccess._probe.session import SURVIVED, Session
from dataaccess.errors import DataAccessWarning, PermissionDeniedError

if TYPE_CHECKING:
    from datetime import date

    from dataaccess import Client
    from dataaccess._probe.questions import Question

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
