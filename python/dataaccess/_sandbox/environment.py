"""The environment in which a program, and each program that it starts, uses a `Sandbox`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dataaccess._sandbox.access import Access

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PREFIX = "DATAACCESS_"


class Environment(Access):
    """Variables that name the sandbox."""

    @contextmanager
    def environment(self, *, scopes: Iterable[str] | None = None) -> Iterator[None]:
        """Makes the sandbox the service of the environment in a `with` block, for child processes too.

        Sets `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN`, removes all other variables that begin with `DATAACCESS_`,
        and restores all of them at the end. The environment is of the process: other threads see the variables too.

        Args:
            scopes: Scopes of the token; None is all of them.

        Yields:
            Nothing.

        Raises:
            ConfigError: There is no such scope.
            ClientClosedError: The sandbox belongs to the parent process.
            SandboxError: The sandbox is stopped.

        Examples:
            >>> import dataaccess as da
            >>> import subprocess, sys
            >>> job = "import dataaccess as da; print(da.Client().check().is_ok)"
            >>> with da.Sandbox.demo() as sandbox, sandbox.environment():
            ...     output = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True).stdout
            >>> print(output.strip())
            True
        """
        token = self.issue_token(scopes)
        before = _variables()
        try:
            _replace({f"{_PREFIX}BASE_URL": self._control.base_url, f"{_PREFIX}TOKEN": token})
            yield
        finally:
            _replace(before)
            self.revoke(token)


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}


def _replace(variables: dict[str, str]) -> None:
    """Replaces all variables of this package."""
    for name in _variables():
        del os.environ[name]
    os.environ.update(variables)
