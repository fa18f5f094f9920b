"""Where the rows of a scan go: what is wrong with it is found before anything is sent."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import click

from dataaccess.cli.ending import CommandError

# As in `sysexits.h`: the folder cannot be used.
_FOLDER_FAILED = 74


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows go, and in which format; standard output if it is neither a file nor a folder."""

    file: str | None
    folder: str | None
    kind: str


def target_of(
    file: str | None, folder: str | None, kind: str | None, *, run: dict[str, Any], is_written: bool
) -> Target:
    """The target of the options.

    Raises:
        UsageError: The options do not fit each other.
        CommandError: The file or folder cannot be written.
    """
    if folder is not None:
        if file is not None or kind not in (None, "parquet"):
            raise click.UsageError("--folder holds Parquet files: leave out --output and --format")
        if os.path.isfile(os.path.expanduser(folder)):  # noqa: PTH111, PTH113 - it may be a URL, which is no path
            message = f"--folder: {folder!r} is a file: name a folder, or write the file with --output"
            raise CommandError(message, _FOLDER_FAILED)
        return Target(None, folder, "parquet")
    if unused := [f"--{name.replace('_', '-')}" for name, value in run.items() if value]:
        raise click.UsageError(f"{', '.join(unused)}: only with --folder")
    if file is None or file == "-":
        if is_written and sys.stdout.isatty():
            raise click.UsageError("write --output FILE or --folder FOLDER, or pipe standard output into a program")
        return Target(None, None, kind or "jsonl")
    return _file(file, kind)


def _file(file: str, kind: str | None) -> Target:
    from dataaccess._core.paths import location  # loads the core
    from dataaccess._scan.files import FORMATS, format_of, known_suffixes, not_written

    path = location("path", file, None)
    found = format_of(path)
    chosen = kind or found
    if os.path.isdir(path):  # noqa: PTH112 - it may be a URL, which is no path
        raise _refused(file, f"is a folder: name a file, or write --folder {file}")
    if chosen is None:
        raise _refused(file, f"has none of the suffixes {known_suffixes(*FORMATS)}: add one, or --format")
    if found not in (None, chosen):
        advice = f"leave --format {chosen} out, or use another suffix"
        raise _refused(file, f"has a suffix of --format {found}: {advice}")
    if problem := not_written(path, chosen, f"--format {chosen}"):
        raise _refused(file, problem)
    if chosen == "arrow" and "://" in path:
        raise _refused(file, "is in an object store: Arrow is written to this machine only, Parquet to both")
    return Target(path, None, chosen)


def _refused(file: str, problem: str) -> click.UsageError:
    return click.UsageError(f"--output {file!r} {problem}")
