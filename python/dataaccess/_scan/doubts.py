"""`on_doubt=`: what happens to complete responses whose data look wrong, before they replace anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess import errors
from dataaccess._core.checks import invalid
from dataaccess._scan.outcome import stats_of, warn_of
from dataaccess.errors import DoubtfulDataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dataaccess._native import RawUnpublished
    from dataaccess._types import OnDoubt

# The classes of doubts about one task.
_OF_TASKS = (
    errors.AbsentAttributeWarning,
    errors.DataAccessWarning,
    errors.IncompleteWarning,
    errors.ShrunkWarning,
    errors.StrayDayWarning,
)
_REFUSED = "on_doubt refused the result: the file is as before"


def on_doubt_argument(on_doubt: object) -> OnDoubt:
    """The checked argument.

    Raises:
        ValidationError: It is none of its forms.
    """
    if on_doubt in ("warn", "error") or callable(on_doubt):
        return on_doubt  # pyright: ignore[reportReturnType] - one of these
    raise invalid("on_doubt", 'must be "warn", "error" or a function', on_doubt)


def _is_accepted(answer: object) -> bool:
    """What the function answered.

    Raises:
        ValidationError: It answered neither yes nor no, as a coroutine function does: all coroutines are true.
    """
    # numpy has a type of its own.
    if isinstance(answer, bool) or type(answer).__name__ in ("bool", "bool_"):
        return bool(answer)
    if hasattr(answer, "close") and hasattr(answer, "cr_code"):
        answer.close()
        raise invalid(
            "on_doubt", "must be a function that is not async: it is called before a file is replaced", answer
        )
    raise invalid("on_doubt", "must return True or False", answer)


def decide(on_doubt: OnDoubt, outcome: dict[str, Any], unpublished: RawUnpublished) -> None:
    """Returns if a file may replace the one at its path. Otherwise it is gone.

    Raises:
        DoubtfulDataError: It may not.
        DataAccessWarning: Warnings are errors.
    """
    try:
        _check(on_doubt, outcome)
    except BaseException:
        unpublished.discard()
        raise


class TaskDoubt:
    """What the core asks of the tasks of a run."""

    def __init__(self, on_doubt: OnDoubt) -> None:
        """Of the checked argument."""
        self._on_doubt = on_doubt
        self._raised: BaseException | None = None

    @property
    def of_core(self) -> str | list[str] | Callable[[dict[str, Any]], bool]:
        """What the core gets: a warning that would be raised refuses a response."""
        if callable(self._on_doubt):
            return self._accepts
        return "error" if self.is_error else [kind.__name__ for kind in _OF_TASKS if _is_error(kind)]

    @property
    def is_error(self) -> bool:
        """Whether a doubt about the whole run is an error."""
        return self._on_doubt == "error"

    def raise_again(self) -> None:
        """Raises what the function raised.

        Raises:
            BaseException: The function raised it.
        """
        if self._raised is not None:
            raise self._raised

    def _accepts(self, file: dict[str, Any]) -> bool:
        """Whether the function accepts a file. After an exception it is not asked again."""
        from dataaccess.reports import FileReport  # as in `stats_of`

        if not callable(self._on_doubt) or self._raised is not None:
            return False
        try:
            return _is_accepted(self._on_doubt(FileReport._of(file)))
        except BaseException as error:
            self._raised = error
            return False


def _is_error(category: type[Warning]) -> bool:
    """Whether a warning of this class would be raised, as far as filters without texts and modules say."""
    import warnings

    for action, text, filtered, module, line in warnings.filters:
        if issubclass(category, filtered) and text is None and module is None and line == 0:
            return action == "error"
    return bool(getattr(warnings, "defaultaction", "default") == "error")


def _check(on_doubt: OnDoubt, outcome: dict[str, Any]) -> None:
    """Raises what `decide` raises."""
    if on_doubt == "error" and outcome["warnings"]:
        problems = "; ".join(warning["message"] for warning in outcome["warnings"])
        raise DoubtfulDataError(f"nothing was written: {problems}")
    warn_of(outcome)
    if callable(on_doubt) and not _is_accepted(on_doubt(stats_of(outcome))):
        raise DoubtfulDataError(_REFUSED)
