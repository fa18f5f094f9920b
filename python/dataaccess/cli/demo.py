"""`dataaccess demo`: runs commands against the sandbox and shows each with its output."""

from __future__ import annotations

import os
import shlex
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import sleep
from typing import TYPE_CHECKING

import click

from dataaccess.cli.ending import INTERRUPTED, CommandError
from dataaccess.cli.parts import Command
from dataaccess.cli.streams import style

if TYPE_CHECKING:
    from collections.abc import Iterator

# How often a folder is removed, and the seconds between.
_ATTEMPTS = 40
_PAUSE = 0.05

_STEPS = [
    ("Promotion codes of yesterday:", "codes --yesterday --attrs id,code_status,allocated_time --limit 5"),
    ("The used ones of a week, as JSON lines:", "codes --last 7 --status used --attrs id --limit 3 --json"),
    ("Customers by their ids:", "items customer --attrs customer_id,name --matches customer_id=demo-customer-0001"),
    ("The request of a search, which is not sent:", "validate codes --yesterday --status used --json"),
    ("30 days into a folder; the same command again resumes:", "scan codes --last 30 --folder codes"),
    ("A segment export, until its end:", "segment 5637051 --wait"),
    ("Address, token and scopes:", "doctor"),
]


@click.command("demo", cls=Command)
@click.pass_context
def command(context: click.Context) -> None:
    """Show the commands at work, with synthetic data.

    Runs some commands against the sandbox: no account and no network. Changes no file.
    """
    application = context.find_root().command
    before = os.environ.get("DATAACCESS_BASE_URL")
    os.environ["DATAACCESS_BASE_URL"] = "sandbox:demo"
    try:
        with _temporary_folder() as folder, chdir(folder):
            for title, line in _STEPS:
                click.echo(style(f"# {title}", dim=True))
                click.echo(style(f"$ dataaccess {line}", bold=True))
                _run(application, line)
                click.echo()
    finally:
        if before is None:
            del os.environ["DATAACCESS_BASE_URL"]
        else:
            os.environ["DATAACCESS_BASE_URL"] = before
    click.echo("To go on: set DATAACCESS_BASE_URL=sandbox:demo, and try the commands with options of your own.")


def _run(application: click.Command, line: str) -> None:
    try:
        with suppress(click.exceptions.Exit), application.make_context("dataaccess", shlex.split(line)) as run:
            application.invoke(run)
    except CommandError as error:
        if error.code == INTERRUPTED:
            # Without the advice to resume: the folder is a temporary one.
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="dataaccess-"))
    try:
        yield folder
    finally:
        # An interrupted run may write its last file while the folder is removed.
        for _ in range(_ATTEMPTS):
            rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            sleep(_PAUSE)
