"""Log records, through Python's `logging`. The core calls the functions for records of requests.

A program that handles records has imported `logging`. Until then nothing is logged and this module does not import it:
that would take a quarter of the time until a new process has its first row.
"""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from typing import TYPE_CHECKING

from dataaccess._core.warn import warn_caller
from dataaccess.errors import DataAccessWarning

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from typing import Any

# Levels of `logging`.
_DEBUG, _INFO, _WARNING = 10, 20, 30
_LEVELS = {"debug": _DEBUG, "info": _INFO, "warning": _WARNING}
# The logger of an event, its level and its text.
_EVENTS = {
    "began": ("request", _DEBUG, "attempt %(attempt)d began, request %(request_id)s"),
    "ended": ("access", _INFO, ""),
    "retrying": (
        "retry",
        _WARNING,
        "attempt %(attempt)d failed, retry in %(delay).3f s: %(reason)s: %(detail)s, request %(request_id)s",
    ),
}

_printers: list[logging.Handler] = []


def print_as_environment_asks() -> None:
    """Prints records on standard error, from the level in `DATAACCESS_LOG` on. The first call with a level counts."""
    level = os.environ.get("DATAACCESS_LOG", "").lower()
    if not level or _printers:
        return
    if level not in _LEVELS:
        warn_caller(f"DATAACCESS_LOG={level} is no level; set one of {', '.join(_LEVELS)}", DataAccessWarning)
        return
    import logging

    printer = logging.StreamHandler()
    printer.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    # A program with handlers of its own prints the records itself.
    printer.addFilter(lambda _record: not logging.root.handlers)
    _printers.append(printer)
    logger = logging.getLogger("dataaccess")
    logger.addHandler(printer)
    logger.setLevel(_LEVELS[level])


@cache
def _logger(name: str) -> logging.Logger:
    """The logger of attempts that begin (`request`) or have ended (`access`), of retries (`retry`) or runs (`run`)."""
    import logging

    # A library prints nothing by itself: the program chooses its handlers.
    logging.getLogger("dataaccess").addHandler(logging.NullHandler())
    return logging.getLogger(f"dataaccess.{name}")


def log_run(message: str, fields: dict[str, Any], *, is_doubt: bool = False) -> None:
    """Logs the state of a run, with these fields."""
    if "logging" in sys.modules:
        _logger("run").log(_WARNING if is_doubt else _INFO, "%s", message, extra=fields)


def interest() -> tuple[bool, bool, bool]:
    """Whether records would be handled: of attempts that begin, of those that have ended, and of retries."""
    if "logging" not in sys.modules:
        return False, False, False
    begins, ends, retries = _checks()
    return begins(_DEBUG), ends(_INFO), retries(_WARNING)


@cache
def _checks() -> tuple[Callable[[int], bool], Callable[[int], bool], Callable[[int], bool]]:
    """What says whether the loggers of attempts and retries have a level. Each call asks it."""
    return _logger("request").isEnabledFor, _logger("access").isEnabledFor, _logger("retry").isEnabledFor


def scheduler() -> Callable[[Callable[[], object]], object]:
    """Schedules calls on the running event loop, from any thread and in the context of this call."""
    import asyncio
    from contextvars import copy_context

    return partial(asyncio.get_running_loop().call_soon_threadsafe, context=copy_context())


def emit(fields: dict[str, Any]) -> None:
    """Logs an event of the core."""
    event, time = fields.pop("event"), fields.pop("time")
    name, level, form = _EVENTS[event]
    logger = _logger(name)
    if not logger.isEnabledFor(level):
        return
    form = f"{'%(operation)s %(day)s' if fields.get('day') else '%(operation)s'}: {form or _access(fields)}"
    record = logger.makeRecord(logger.name, level, __file__, 0, form, (fields,), None, fields["operation"], fields)
    # The event is older than this call: it waited for this thread.
    record.relativeCreated -= (record.created - time) * 1000
    record.created, record.msecs = time, int(time % 1 * 1000) + 0.0
    logger.handle(record)


def _access(fields: dict[str, Any]) -> str:
    """The text of a request whose response was read, or failed."""
    form = "%(method)s %(path)s"
    if fields["status"] is not None:
        form += " %(status)d"
    if fields["outcome"] != "ok":
        form += " %(outcome)s"
    form += " in %(seconds).3f s, %(bytes)d bytes"
    if fields["rows"] is not None:
        form += ", %(rows)d row" if fields["rows"] == 1 else ", %(rows)d rows"
    return form + ", request %(request_id)s, attempt %(attempt)d"
