"""Which arguments an error names, as in `pytest.raises(da.ConfigError, check=about("timeout"))`."""

from __future__ import annotations

import re
from collections.abc import Callable

import dataaccess as da

_NAME = re.compile(r"\w+(?:\.\w+|\[[^\]]*\])*")


def arguments_of(error: da.ConfigError | da.ValidationError) -> set[str]:
    """The argument of each problem, such as `timeout` or `code_status[1]`."""
    if isinstance(error, da.ValidationError):
        return {problem.argument for problem in error.problems}
    return {match[0] for line in error.problems if (match := _NAME.match(line))}


def about(*arguments: str) -> Callable[[da.ConfigError | da.ValidationError], bool]:
    """A check that an error is about these arguments and no others."""

    def check(error: da.ConfigError | da.ValidationError) -> bool:
        assert arguments_of(error) == set(arguments), error
        return True

    return check
