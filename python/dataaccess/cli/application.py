"""The click application: the list of commands, and what ends a command.

It imports neither the core nor the module of a command that is not used, so that `--help` is quick.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from dataaccess.cli import ending

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each command is the object `command` of the module of this name. Its first line of help is here, so that the list of
# commands loads none of them; a test compares both.
COMMANDS = {
    "codes": "Get promotion codes: to the terminal, a pipe, a file or a folder.",
    "items": "Get the items of a business object, such as customers.",
    "segment": "Show the status of a segment export, or wait for its end.",
    "status": "Show what a folder of codes or items holds.",
    "check": "Check configuration, connection and token, and find the settings.",
    "sandbox": "Serve the sandbox on this machine.",
}

_COMPLETE = "_DATAACCESS_COMPLETE"

_EPILOG = """\b
Try it without an account:
  dataaccess codes --on yesterday --base-url sandbox:demo

\b
Exit codes:
  0    success
  1    check: a setting is wrong for the service
  2    what was typed is wrong
  64   the folder belongs to another query
  65   the data look wrong (--strict, --fail-empty), or a file of the folder is damaged
  69   the service refuses or fails, and repeating does not help
  70   a defect
  74   a file, the folder or standard output cannot be written or used
  75   the same command may succeed later
  77   the token is refused
  78   a setting of the environment or the profile is wrong
  130  Ctrl-C; 141 and 143 likewise for a reader that ended and for SIGTERM
"""


class _Application(click.Group):
    """Loads a command when it is used."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dataaccess.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Application, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dataaccess", message="dataaccess %(version)s")
def application() -> None:
    """Get promotion codes and customers out of a customer data platform, and the status of its segment exports.

    Rows are a table in a terminal, and JSON lines in a pipe or file. Messages go to standard error.
    """


# click completes and suggests these names; `get_command` loads the command.
application.commands.update(dict.fromkeys(COMMANDS, application))


def run(arguments: Sequence[str]) -> int:
    """Runs the command. Returns the exit code."""
    if instruction := os.environ.get(_COMPLETE):
        # The shell asks for completions.
        from click.shell_completion import shell_complete

        return shell_complete(application, {}, "dataaccess", _COMPLETE, instruction)
    with ending.terminable(), ending.warnings_as_lines():
        try:
            # None: in a terminal.
            color = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
            with application.make_context("dataaccess", list(arguments), color=color) as context:
                application.invoke(context)
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            return ending.of(error)
    return 0
