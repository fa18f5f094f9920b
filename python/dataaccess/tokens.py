"""Ready-made token callables: what `token=` takes besides a text."""

from __future__ import annotations

import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dataaccess._core.warn import warn_caller
from dataaccess.errors import ConfigError, DataAccessWarning

if TYPE_CHECKING:
    import os

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class TokenFile:
    """Reads a token from a file, each time one is asked for. It pickles as the path."""

    path: Path

    def __call__(self) -> str:
        """The file's text without white space around it."""
        try:
            mode = self.path.stat().st_mode
            content = self.path.read_bytes()
        except OSError as error:
            raise ConfigError(f"the token file {self.path} cannot be read: {type(error).__name__}") from error
        text: str | None
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = None
        # That error holds the whole file, so it must be neither cause nor context of ours; nor may a local hold it.
        del content
        if text is None:
            raise ConfigError(f"the token file {self.path} is not UTF-8 text; save it as UTF-8")
        # On Windows modes say nothing of who may read a file.
        if mode & _OTHERS and sys.platform != "win32":
            warn_caller(f"others may read the token file {self.path}; chmod 600 keeps it to you", DataAccessWarning)
        return text.strip()


def token_file(path: str | os.PathLike[str]) -> TokenFile:
    """Takes the token from a file, as a secret mounted into a container.

    It is read when a token is first needed and again when the service refuses the old one, so a
    file that is rotated is followed. A `DataAccessWarning` tells when others than its owner may
    read it. The clients that use it pickle.

    Args:
        path: The file; white space around the token does not matter.

    Returns:
        A callable for `token=`.

    Raises:
        ConfigError: When a request needs the token and the file cannot be read or is not UTF-8 text.

    Example:
        >>> import dataaccess as da
        >>> client = da.Client("https://cdp.example.com", token=da.token_file("/run/secrets/cdp"))
        >>> client
        Client('https://cdp.example.com', token from callable)
    """
    return TokenFile(Path(path))
