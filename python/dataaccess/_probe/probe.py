"""Runs a probe."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from dataaccess._probe.findings import Finding, ProbeReport
from dataaccess._probe.questions import Questions
from dataaccess.errors import ApiError, DataAccessWarning, PermissionDeniedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from dataaccess import Client

# The most requests that a probe sends, without retries.
MOST_REQUESTS = 15
# Seconds for which a request that fails is retried, and seconds for one call.
_RETRY_FOR, _TIMEOUT = 10, 120


def probe(
    client: Client, day: date, *, export_id: int | None = None, on_question: Callable[[str], None] | None = None
) -> ProbeReport:
    """Asks a service what the API specification leaves open. Reads only.

    Args:
        client: A client of the service.
        day: A day that has codes, better many than few.
        export_id: A segment export that has ended.
        on_question: Called with a line for each question before it is asked.

    Returns:
        A report with the switches for a sandbox and the settings for clients. What was not found out is in it too.

    Raises:
        TransportError: The service could not be reached.
        PermissionDeniedError: The token cannot search.
    """
    client = client.with_options(retry_for=_RETRY_FOR, timeout=_TIMEOUT)
    report = ProbeReport(client.base_url, str(day))
    for question in Questions(client, day, report, export_id).all():
        title = (question.__doc__ or "").partition("\n")[0]
        if on_question is not None:
            on_question(title)
        try:
            with warnings.catch_warnings():
                # The findings say the same.
                warnings.simplefilter("ignore", DataAccessWarning)
                question()
        except PermissionDeniedError:
            if question.__name__ == "codes_of_the_day":
                raise
            report.findings.append(Finding(question.__name__, None, "the token lacks the scope", is_switch=False))
        except ApiError as error:
            report.findings.append(Finding(question.__name__, None, str(error), is_switch=False))
    return report
