"""A function for the option `token_callable`. The executors import it."""

import os


def fetch() -> str:
    """A token, as if from a vault."""
    return os.environ["DATAACCESS_TOKEN"]


def counted() -> str:
    """The token; writes down the process that asks for it."""
    with open(os.environ["CALLS_OF_TOKEN"], "a") as file:  # noqa: PTH123 - one write at the end of the file
        file.write(f"{os.getpid()}\n")
    return fetch()
