"""Warnings: a result is complete as far as the responses say, and may still not be what the caller expects."""


class DataAccessWarning(UserWarning):
    """The base class of all warnings of this package."""


class AbsentAttributeWarning(DataAccessWarning):
    """A requested attribute is missing, not null, from every record; is it misspelled?"""


class EmptyResultWarning(DataAccessWarning):
    """Nothing was found on any of several days, or the conditions of the search may explain why."""


class IncompleteWarning(DataAccessWarning):
    """A response may not hold all rows."""


class StrayDayWarning(DataAccessWarning):
    """Rows do not fit the requested days: the service may cut its days in another zone, or include those named."""


class ShrunkWarning(DataAccessWarning):
    """A response has much less than the file of a run that it would replace; the file was kept."""


class MissingIdsWarning(DataAccessWarning):
    """A list of ids of customers found fewer customers; `Table.missing_ids()` has the ids without a row."""


class TimezoneWarning(DataAccessWarning):
    """Days are sent to a platform and `timezone` was not set: in another time zone days are lost in silence."""


class RecordingWarning(DataAccessWarning):
    """A client records its exchanges into a file, which then holds customer data."""


class SandboxWarning(DataAccessWarning):
    """The data is synthetic: it comes from the sandbox. Or the sandbox cannot behave as a platform in every point."""
