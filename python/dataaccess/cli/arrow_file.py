"""Arrow IPC: a file that appears only when it is complete, or a stream to standard output. Needs pyarrow."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from dataaccess.cli import output
from dataaccess.cli.progress import line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from dataaccess import Scan

# Modes of a new file; the umask decides about the second.
_PRIVATE, _USUAL = 0o600, 0o666
# File systems limit the length of names.
_REPEATED = 48


def write(scan: Scan, file: str | None, *, private: bool) -> None:
    """Writes the rows batch by batch. A file can be read at any place; standard output gets a stream, once complete."""
    if file is not None:
        with _appearing(Path(file), _PRIVATE if private else _USUAL) as opened:
            _write_batches(scan, opened, "new_file")
        return
    with TemporaryFile() as complete:
        _write_batches(scan, complete, "new_stream")
        complete.seek(0)
        with output.binary_stdout() as stdout:
            copyfileobj(complete, stdout)


@contextmanager
def _appearing(path: Path, mode: int) -> Iterator[IO[bytes]]:
    """A file that gets its name at the end of the block; an error in it leaves what was there.

    Raises:
        FileError: It cannot be written.
    """
    from dataaccess.errors import DataAccessError

    made = path.with_name(f".{path.name[:_REPEATED]}.{token_hex(8)}.tmp")
    if path.exists() and not path.is_file():
        raise _not_written(path, OSError(errno.EINVAL, "it is not a regular file"))
    if path.is_symlink() and path.readlink().is_relative_to("/proc"):
        # Such as /dev/stdout, which all programs share: the file would replace the link.
        raise _not_written(path, OSError(errno.EINVAL, "it is a link to an open file"))
    try:
        # Before the first request is sent.
        file = open(made, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115 - Path.open has no opener
        try:
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
    from dataaccess.errors import FileError

    advice = "; make its folder, and try again" if error.errno == errno.ENOENT else ""
    message = f"`{path}` cannot be written: {error.strerror or error}{advice}"
    return FileError(message, errno=error.errno, path=str(path))


def _write_batches(scan: Scan, file: Any, form: str) -> None:
    from dataaccess._core.optional import optional

    arrow, ipc = optional("pyarrow", "arrow"), optional("pyarrow.ipc", "arrow")
    with line() as shown, scan.batches() as batches, getattr(ipc, form)(file, arrow.schema(batches._raw)) as writer:  # noqa: SLF001 - of this package
        rows = 0
        for batch in batches:
            writer.write_batch(batch.to_arrow())
            rows += len(batch)
            if shown is not None:
                shown.show(f"{rows:,} rows")
