"""A file that the command writes itself, and that appears only when it is complete."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from dataaccess.errors import DataAccessError, FileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO

# Modes of a new file; the umask decides about the second.
_PRIVATE, _USUAL = 0o600, 0o666
# File systems limit the length of names.
_REPEATED = 48


def write_lines(file: str, lines: Iterable[str], *, private: bool = False) -> None:
    """Writes texts, one a line."""
    path = Path(os.path.expanduser(file))  # noqa: PTH111 - never raises
    with appearing(path, private=private) as opened:
        opened.writelines(f"{line}\n".encode() for line in lines)


@contextmanager
def appearing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file that gets its name at the end of the block; an error in it leaves what was there.

    It has the mode of the file that it replaces, unless it is private.

    Raises:
        FileError: It cannot be written.
    """
    made = path.with_name(f".{path.name[:_REPEATED]}.{token_hex(8)}.tmp")
    if path.exists() and not path.is_file():
        raise _not_written(path, OSError(errno.EINVAL, "it is not a regular file"))
    if path.is_symlink() and path.readlink().is_relative_to("/proc"):
        # Such as /dev/stdout, which all programs share: the file would replace the link.
        raise _not_written(path, OSError(errno.EINVAL, "it is a link to an open file"))
    try:
        # Before the first request is sent.
        mode = _PRIVATE if private else _USUAL
        file = open(made, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115 - Path.open has no opener
        try:
            if not private and path.exists() and not path.is_symlink():
                made.chmod(stat.S_IMODE(path.stat().st_mode))
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            made.replace(path)
        finally:
            made.unlink(missing_ok=True)
    except DataAccessError:
        # Some are also an OSError, and say more.
        raise
    except OSError as error:
        raise _not_written(path, error) from None


def _not_written(path: Path, error: OSError) -> Exception:
    advice = "; make its folder, and try again" if error.errno == errno.ENOENT else ""
    message = f"`{path}` cannot be written: {error.strerror or error}{advice}"
    return FileError(message, errno=error.errno, path=str(path))
