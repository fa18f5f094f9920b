"""Which errors end a task at once, and which Airflow may retry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dataaccess import errors
from dataaccess.airflow.compat import exceptions

# The same task fails again until somebody changes the DAG, the connection or the token.
_PERMANENT = (errors.PermissionDeniedError, errors.ValidationError, errors.ConfigError, errors.SegmentExportError)
_OK = 200
# HTTP statuses, and codes of envelopes, of a wrong request: an unknown attribute or export, a body that is too long.
_WRONG_REQUEST = frozenset({400, 404, 413, 414, 422, 431})


def is_permanent(error: errors.DataAccessError) -> bool:
    """Whether no retry of the task can help."""
    if isinstance(error, errors.ScanIncompleteError):
        # A retry of the others does not complete the folder.
        return any(map(is_permanent, error.failed.values()))
    if isinstance(error, errors.ApiError) and (error.code if error.status == _OK else error.status) in _WRONG_REQUEST:
        return True
    # A token that could not be read is a `ConfigError` that is worth a retry.
    has_other_files = isinstance(error, errors.FolderError) and error.reason != "corrupt"
    return (isinstance(error, _PERMANENT) or has_other_files) and not error.retryable


@contextmanager
def without_useless_retries(conn_id: str | None) -> Iterator[None]:
    """Turns permanent errors into `AirflowFailException`, which ends the task whatever its `retries` are."""
    try:
        yield
    except errors.DataAccessError as error:
        if is_permanent(error):
            raise exceptions.AirflowFailException(text_of(error, conn_id)) from error
        raise


def text_of(error: errors.DataAccessError, conn_id: str | None) -> str:
    """The error with its notes; if the service refused the token, with the connection of the request."""
    lines = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    if conn_id is not None and isinstance(error, errors.PermissionDeniedError):
        lines.append(f"the request was sent with the Airflow connection {conn_id!r}")
    return "\n  ".join(lines)
