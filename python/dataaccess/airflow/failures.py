"""Which errors end a task at once, and which Airflow may retry."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from airflow.sdk.exceptions import AirflowFailException

from dataaccess.errors import (
    ConfigError,
    DataAccessError,
    FolderError,
    FolderMismatchError,
    PermissionDeniedError,
    SegmentExportError,
    ValidationError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# The same task fails again until somebody changes the DAG, the connection or the token.
_PERMANENT = (PermissionDeniedError, ValidationError, ConfigError, FolderMismatchError, SegmentExportError)


def is_permanent(error: DataAccessError) -> bool:
    """Whether no retry of the task can help."""
    # A token that could not be read is a `ConfigError` that is worth a retry.
    has_other_files = type(error) is FolderError
    return (isinstance(error, _PERMANENT) or has_other_files) and not error.retryable


@contextmanager
def without_useless_retries() -> Iterator[None]:
    """Turns permanent errors into `AirflowFailException`, which ends the task whatever its `retries` are."""
    try:
        yield
    except DataAccessError as error:
        if is_permanent(error):
            notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
            raise AirflowFailException(f"{type(error).__name__}: {error}{notes}") from error
        raise
