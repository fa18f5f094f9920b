"""Log records, through Python's `logging`. The bindings of the Rust core call the functions for those of requests.

`dataaccess.request` logs the start and the end of each attempt at DEBUG, `dataaccess.retry` each retry at WARNING,
`dataaccess.run` the course of a run at INFO and its doubts at WARNING. No record holds a token, a body or a value.

A program that handles records has imported `logging`. So nothing is logged until then, and this module does not import
it: that would take a quarter of the time until a new process has its first row.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from typing import Any

# Levels of `logging`.
_DEBUG = 10
_INFO = 20
_WARNING = 30

_BEGAN = "%(operation)s: attempt %(attempt)d began, request %(request_id)s"
_ENDED = (
    "%(operation)s: attempt %(attempt)d ended (%(outcome)s) after %(seconds).3f s, HTTP %(status)s, %(bytes)d bytes, "
    "request %(request_id)s"
)
_WITHOUT_RESPONSE = (
    "%(operation)s: attempt %(attempt)d ended (%(outcome)s) after %(seconds).3f s, request %(request_id)s"
)
# A record of a scan by days has its day; `_FORMS` are of the others.
_OF_DAY = "%(operation)s %(day)s: "
_AGAIN = (
    "%(operation)s: attempt %(attempt)d failed, retry in %(delay).3f s: %(reason)s: %(detail)s, request %(request_id)s"
)
_FORMS = {
    "began": (0, _DEBUG, _BEGAN),
    "ended": (0, _DEBUG, _ENDED),
    "retrying": (1, _WARNING, _AGAIN),
}


@cache
def _loggers() -> tuple[logging.Logger, logging.Logger]:
    """The loggers of attempts and of retries."""
    import logging

    # A library prints nothing by itself: the program chooses its handlers.
    logging.getLogger("dataaccess").addHandler(logging.NullHandler())
    return logging.getLogger("dataaccess.request"), logging.getLogger("dataaccess.retry")


def log_run(message: str, fields: dict[str, Any], *, is_doubt: bool = False) -> None:
    """Logs what a run has come to, with these fields."""
    if "logging" in sys.modules:
        import logging

        _loggers()
        logging.getLogger("dataaccess.run").log(_WARNING if is_doubt else _INFO, "%s", message, extra=fields)


def interest() -> tuple[bool, bool]:
    """Whether records of attempts, and of retries, would be handled."""
    if "logging" not in sys.modules:
        return False, False
    request, retry = _loggers()
    return request.isEnabledFor(_DEBUG), retry.isEnabledFor(_WARNING)


def scheduler() -> Callable[[Callable[[], object]], object]:
    """Schedules calls on the running event loop, from any thread and in the context of this call."""
    import asyncio
    from contextvars import copy_context

    return partial(asyncio.get_running_loop().call_soon_threadsafe, context=copy_context())


def emit(fields: dict[str, Any]) -> None:
    """Logs an event of the core."""
    kind, level, form = _FORMS[fields.pop("event")]
    logger = _loggers()[kind]
    time = fields.pop("time")
    if not logger.isEnabledFor(level):
        return
    if form is _ENDED and fields["status"] is None:
        form = _WITHOUT_RESPONSE
    if fields.get("day") is not None:
        form = _OF_DAY + form.removeprefix("%(operation)s: ")
    record = logger.makeRecord(logger.name, level, __file__, 0, form, (fields,), None, fields["operation"], fields)
    # The event is older than this call: it waited for this thread.
    record.relativeCreated -= (record.created - time) * 1000
    record.created, record.msecs = time, int(time % 1 * 1000) + 0.0
    logger.handle(record)
