"""Ready-made token callables for `token=`."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dataaccess._core.paths import local_path, read_file
from dataaccess._public import public
from dataaccess.errors import ConfigError, DataAccessWarning

__all__ = ["TokenFile", "token_file"]

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Characters of the name of a file that does not exist.
_MOST_SHOWN = 8
# The files that a token was read from.
_READ: set[Path] = set()


@dataclass(frozen=True, slots=True)
class TokenFile:
    """Reads a token from a file, each time it is called. It pickles as the path."""

    path: Path
    is_of_one_service: ClassVar[bool] = True

    def __call__(self) -> str:
        """The content of the file without surrounding white space."""
        content, mode = self._content(self.path)
        text: str | None
        try:
            # Editors of Windows begin a file with a byte order mark.
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = None
        # That error holds the whole file, so it must not be the cause or context of ours; nor may a local hold it.
        del content
        if text is None:
            raise ConfigError(f"the token file {self.path} is not valid UTF-8; save it as UTF-8")
        # On Windows the mode does not say who may read a file.
        if mode & _OTHERS and sys.platform != "win32":
            message = f"other users may read the token file {self.path}; run chmod 600 on it"
            warnings.warn(message, DataAccessWarning, stacklevel=2)
        if not (token := text.strip()):
            # As a file is for a moment that is rewritten in place.
            raise ConfigError(f"the token file {self.path} is empty; write the token into it", retryable=True)
        _READ.add(self.path)
        return token

    def _content(self, shown: Path) -> tuple[bytes, int]:
        """The bytes and the mode of the file. Errors show this path."""
        try:
            return read_file(self.path)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        except ValueError as error:
            reason = str(error)
        # Neither the cause nor the context of ours: it has the name, which may be a token.
        # A file that is replaced may be missing for a moment.
        known = self.path in _READ
        raise ConfigError(f"the token file {_unreadable(shown, reason)}", retryable=known)


def _unreadable(path: Path, reason: str) -> str:
    """The path and what is wrong with it. Of what does not exist it has 8 characters: it may be the token itself."""
    exists = path
    while not os.path.lexists(exists) and exists != exists.parent:
        exists = exists.parent
    missing = str(path.relative_to(exists)) if exists != path else ""
    shown = str(path)
    if len(missing) <= _MOST_SHOWN:
        return f"{shown} {reason}"
    shown = f"{shown.removesuffix(missing)}{missing[:_MOST_SHOWN]}…"
    return f"{shown} {reason} (at most {_MOST_SHOWN} characters of a missing name are shown)"


@public
def token_file(path: str | os.PathLike[str]) -> TokenFile:
    """Reads the token from a file, such as a secret mounted into a container.

    The file is read when a token is first needed, and again when the service refuses the old one, so a rotated file is
    followed; one that is empty for a moment is read again, for `retry_for=`. A `DataAccessWarning` is raised if other
    users may read it. Clients that use it pickle.

    Args:
        path: The file; white space around the token is ignored. `~` is the home folder. A relative path starts at the
            current folder of this call.

    Returns:
        A callable for `token=`.

    Raises:
        ConfigError: When a request needs the token and the file cannot be read or is not valid UTF-8.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("https://cdp.example.com", token=da.token_file("/run/secrets/cdp"))
        >>> client
        Client('https://cdp.example.com', token from callable)
    """
    return TokenFile(Path(local_path(path)))
