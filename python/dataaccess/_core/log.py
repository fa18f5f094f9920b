"""Log records of requests, through Python's `logging`. The bindings of the Rust core call these functions.

`dataaccess.request` logs the start and the end of each attempt at DEBUG, `dataaccess.retry` each retry at WARNING. No
record holds a token, a body or a value.
"""

from __future__ import annotations

import logging
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_REQUEST = logging.getLogger("dataaccess.request")
_RETRY = logging.getLogger("dataaccess.retry")

# A library prints nothing by itself: the program chooses its handlers.
logging.getLogger("dataaccess").addHandler(logging.NullHandler())

_BEGAN = "%(operation)s: attempt %(attempt)d began, request %(request_id)s"
_ENDED = (
    "%(operation)s: attempt %(attempt)d ended (%(outcome)s) after %(seconds).3f s, HTTP %(status)s, %(bytes)d bytes, "
    "request %(request_id)s"
)
_AGAIN = (
    "%(operation)s: attempt %(attempt)d failed, retry in %(delay).3f s: %(reason)s: %(detail)s, request %(request_id)s"
)
_FORMS = {
    "began": (_REQUEST, logging.DEBUG, _BEGAN),
    "ended": (_REQUEST, logging.DEBUG, _ENDED),
    "retrying": (_RETRY, logging.WARNING, _AGAIN),
}


def interest() -> tuple[bool, bool]:
    """Whether records of attempts, and of retries, would be handled."""
    return _REQUEST.isEnabledFor(logging.DEBUG), _RETRY.isEnabledFor(logging.WARNING)


def scheduler() -> Callable[[Callable[[], object]], object]:
    """Schedules calls on the running event loop, from any thread and in the context of this call."""
    import asyncio

    return partial(asyncio.get_running_loop().call_soon_threadsafe, context=copy_context())


def emit(fields: dict[str, Any]) -> None:
    """Logs an event of the core."""
    logger, level, form = _FORMS[fields.pop("event")]
    time = fields.pop("time")
    if not logger.isEnabledFor(level):
        return
    record = logger.makeRecord(logger.name, level, __file__, 0, form, (fields,), None, fields["operation"], fields)
    # The event is older than this call: it waited for this thread.
    record.relativeCreated -= (record.created - time) * 1000
    record.created, record.msecs = time, int(time % 1 * 1000) + 0.0
    logger.handle(record)
