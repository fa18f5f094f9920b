"""What calls do, as records of Python's `logging`. Who calls this stands in the core's bindings.

`dataaccess.request` has a DEBUG record when an attempt begins and when it ends, `dataaccess.retry` a WARNING when
another follows one that failed. No record holds a token, a body or a value.
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

# A library prints nothing by itself: only handlers of the program do.
logging.getLogger("dataaccess").addHandler(logging.NullHandler())

_BEGAN = "%(operation)s: attempt %(attempt)d began, request %(request_id)s"
_ENDED = (
    "%(operation)s: attempt %(attempt)d ended (%(outcome)s) after %(seconds).3f s, HTTP %(status)s, %(bytes)d bytes, "
    "request %(request_id)s"
)
_AGAIN = (
    "%(operation)s: attempt %(attempt)d failed, again in %(delay).3f s: %(reason)s: %(detail)s, request %(request_id)s"
)
_FORMS = {
    "began": (_REQUEST, logging.DEBUG, _BEGAN),
    "ended": (_REQUEST, logging.DEBUG, _ENDED),
    "retrying": (_RETRY, logging.WARNING, _AGAIN),
}


def interest() -> tuple[bool, bool]:
    """Whether anybody wants to know of attempts, and of what is sent again."""
    return _REQUEST.isEnabledFor(logging.DEBUG), _RETRY.isEnabledFor(logging.WARNING)


def scheduler() -> Callable[[Callable[[], object]], object]:
    """Has the running loop call something soon, in the context of now, on whichever thread it is asked."""
    import asyncio

    return partial(asyncio.get_running_loop().call_soon_threadsafe, context=copy_context())


def tell(fields: dict[str, Any]) -> None:
    """Makes a record of an event and has it handled."""
    logger, level, form = _FORMS[fields.pop("event")]
    time = fields.pop("time")
    if not logger.isEnabledFor(level):
        return
    record = logger.makeRecord(logger.name, level, __file__, 0, form, (fields,), None, fields["operation"], fields)
    # It has waited for the thread that tells it.
    record.relativeCreated -= (record.created - time) * 1000
    record.created, record.msecs = time, int(time % 1 * 1000) + 0.0
    logger.handle(record)
