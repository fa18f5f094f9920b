"""How a command ends: one line on standard error, a report as JSON if that is wanted, and an exit code by the error.

docs/command-line.md lists the codes.
"""

from __future__ import annotations

import re
import signal
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli import output
from dataaccess.cli.output import note, silence
from dataaccess.errors import ConfigError, DataAccessError, DataAccessWarning, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess.reports import FolderReport

# Of the shell, for signals.
INTERRUPTED = 130
CLOSED_PIPE = 141
TERMINATED = 143
# As in `sysexits.h`: the data are wrong; input or output failed.
DOUBTFUL = 65
FAILED = 74
# What was typed cannot be used.
USAGE = 2
# The options that make one argument. Others have the name of their argument.
_PARAMETERS = {
    "allocated_time": ("on", "days", "last", "since", "until", "where"),
    "where": ("where", "matches"),
}


class Terminated(KeyboardInterrupt):
    """SIGTERM, as of `timeout`, systemd or a container that stops. It cleans up what Ctrl-C cleans up."""


class CommandError(Exception):
    """Ends the command with a message and an exit code, such as that of a request whose problems name the options."""

    def __init__(self, message: str, code: int, report: FolderReport | None = None) -> None:
        """The message in one line, and the report of a run that is done."""
        super().__init__(message)
        self.code: int = code
        self.report: FolderReport | None = report


def is_typed(error: DataAccessError) -> bool:
    """Whether what is wrong was typed, and is not a setting of the environment or the profile."""
    is_setting = isinstance(error, ConfigError) and any(_is_typed(option_of(line)) for line in error.problems)
    return is_setting or isinstance(error, ValidationError)


def command_error(error: CommandError | DataAccessError) -> CommandError:
    """An error of a call as one of the command. The problems of a request or of settings are named by their options."""
    if isinstance(error, CommandError):
        return error
    # The command has another name than the call.
    lines = [str(line).removeprefix(f"{error.operation}: ") for line in getattr(error, "problems", [error])]
    message = "; ".join(_with_option(line, error) for line in lines)
    return CommandError(message, USAGE if is_typed(error) else error.exit_code, error.report)


def _with_option(line: str, error: DataAccessError) -> str:
    """A line that begins with an argument, with the option in its place."""
    option = option_of(line) if isinstance(error, ValidationError | ConfigError) else None
    # Other settings are of the environment or the profile.
    if option is None or (isinstance(error, ConfigError) and not _is_typed(option)):
        return line
    return max(option.opts, key=len) + re.sub(r"^\w+", "", line)


def option_of(line: str) -> click.Parameter | None:
    """The option of the argument that a line begins with, such as `code_status[1]: …`; of several the typed one."""
    argument = re.sub(r"\W.*", "", line, flags=re.DOTALL)
    names, options = _PARAMETERS.get(argument, (argument,)), click.get_current_context().command.params
    making = [one for name in names for one in options if one.name == name]
    found = list(filter(_is_typed, making)) or making[:1]
    return found[0] if len(found) == 1 else None


def _is_typed(option: click.Parameter | None) -> bool:
    source = click.get_current_context().get_parameter_source(option.name or "") if option else None
    return source is click.core.ParameterSource.COMMANDLINE


def as_dict(report: dict[str, Any], error: CommandError | DataAccessError | None = None) -> dict[str, Any]:
    """A report for JSON: also of a failure."""
    failed = {task: str(command_error(each)) for task, each in getattr(error, "failed", {}).items()}
    ended = None if error is None else command_error(error)
    text, code = (str(ended), ended.code) if ended else (None, 0)
    return {**report, "error": text, "exit_code": code, "failed": failed}


@contextmanager
def reported() -> Iterator[None]:
    """Prints a report of a failure too, if it is to be JSON."""
    try:
        yield
    except (CommandError, DataAccessError) as error:
        if output.wants("json"):
            output.write_json(as_dict({} if error.report is None else error.report.to_dict(), error))
        raise


def of(error: BaseException) -> int:
    """Prints what ended a command, and returns the exit code.

    Raises:
        BaseException: The error, if it is a defect of the command.
    """
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            note(error.format_message())
            return USAGE
        case CommandError():
            message, code = str(error), error.code
        case KeyboardInterrupt() | click.Abort():
            message, code = signaled(error)
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "dataaccess"
            message, code = f"{_sentence(error)} (see {path} --help)", USAGE
        case OSError(filename=str(path)):
            message, code = f"{path}: {error.strerror}", FAILED
        case OSError():
            # Python must not flush to the same file again at exit.
            silence("stdout")
            if isinstance(error, BrokenPipeError):
                # The reader has what it wanted, as `head` does.
                return CLOSED_PIPE
            message, code = f"the output could not be written: {error.strerror}", FAILED
        case ImportError() if "pip install" in str(error):
            message, code = str(error), USAGE
        case _:
            raise error
    _say(message)
    return code


def signaled(error: BaseException) -> tuple[str, int]:
    """What a signal did to the command, and its exit code."""
    return ("terminated", TERMINATED) if isinstance(error, Terminated) else ("interrupted", INTERRUPTED)


@contextmanager
def terminable() -> Iterator[None]:
    """Makes SIGTERM an exception, so that no temporary file is left behind."""
    is_main = threading.current_thread() is threading.main_thread()
    # A signal that is ignored stays ignored.
    if not is_main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def terminate(*_: object) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Prints the warnings of this package as lines: the place in the code says nothing to who runs a command."""
    usual, shown = warnings.showwarning, set()

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if not issubclass(category, DataAccessWarning):
            usual(message, category, *place)
        # Some are found at several places, such as the mode of a file that is read again.
        elif str(message) not in shown:
            shown.add(str(message))
            _say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment] # it is called with places
        yield


def _sentence(error: click.UsageError) -> str:
    # Only the nearest of the names that may be meant.
    del (getattr(error, "possibilities", None) or [])[1:]
    text = error.format_message()
    return text[:1].lower() + text[1:].rstrip(".")


def _say(text: str) -> None:
    line = " ".join(text.splitlines())
    note(f"dataaccess: {line}")
