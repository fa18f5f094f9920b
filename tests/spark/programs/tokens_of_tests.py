"""A function for the option `token_callable`. The executors import it."""

import os


def fetch() -> str:
    """A token, as if from a vault."""
    return os.environ["DATAACCESS_TOKEN"]
