"""The base of all exceptions, and those that belong to no response: settings, arguments, handles."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar

    from dataaccess._display.tree import Line
    from dataaccess.errors._problem import Problem
    from dataaccess.reports import ScanReport

# Problems that a traceback shows, and further arguments that the message of several names.
_SHOWN = 10
_NAMED = 3
# Fields that may have values of records: they are in no message, log or pickle.
_PRIVATE = ("body_excerpt", "value")
# As in `sysexits.h`.
_EX_SOFTWARE = 70
_EX_TEMPFAIL = 75


class DataAccessError(Exception):
    """The base class of all exceptions of this package. Its message is one line: what happened, where, what to do.

    Attributes:
        operation: Public name of the call, such as `search_codes`.
        attempts: Number of requests sent.
        elapsed: Seconds since the call began.
        request_id: `X-Request-Id` of the last request, for the operators of the service.
        history: One line for each failed request.
        hint: What to do, or None.
        retryable: Whether the same call may succeed later.
        exit_code: What a program should end with, as `sysexits.h` numbers it: 75 if the same call may succeed later,
            else by the class.
        report: The `ScanReport` of what a run had finished when this error ended it. None for other calls.

    Examples:
        >>> import dataaccess as da
        >>> try:
        ...     da.validate_codes(allocated_time=da.after("2024-01-01"), code_status=7)
        ... except da.DataAccessError as error:
        ...     print(type(error).__name__, error.retryable)
        ValidationError False
    """

    operation: str | None
    attempts: int
    elapsed: float
    request_id: str | None
    history: list[str]
    hint: str | None
    retryable: bool
    report: ScanReport | None = None

    # Of a class whose failures are not retryable.
    _exit_code: ClassVar[int] = _EX_SOFTWARE

    _fields: ClassVar[tuple[str, ...]] = (
        "operation",
        "attempts",
        "elapsed",
        "request_id",
        "history",
        "hint",
        "retryable",
    )

    def __init_subclass__(cls, **keywords: object) -> None:
        """Adds the fields that a subclass declares to those of its parents."""
        super().__init_subclass__(**keywords)
        own = [name for name in cls.__annotations__ if not name.startswith("_")]
        inherited = [name for base in cls.__bases__ for name in getattr(base, "_fields", ())]
        cls._fields = tuple(dict.fromkeys([*inherited, *own]))

    def __init__(self, message: str = "", **fields: Any) -> None:
        """Takes the message and, by name, the fields of the class; a field that is not given is empty."""
        # One positional argument only: a second would turn the message of an OSError into "[Errno …]".
        super().__init__(message)
        empty: dict[str, Any] = {
            "attempts": 0,
            "elapsed": 0.0,
            "history": [],
            "entries": [],
            "failed": {},
            "problems": [],
            "retryable": False,
        }
        for name in self._fields:
            setattr(self, name, fields.pop(name, empty.get(name)))
        if fields:
            unknown = ", ".join(fields)
            raise TypeError(f"{type(self).__name__} has no field {unknown}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles every field but those that may have values of records."""
        state = {name: None if name in _PRIVATE else value for name, value in self.__dict__.items()}
        return type(self), self.args, state

    @property
    def exit_code(self) -> int:
        """What a program should end with, as `sysexits.h` numbers it."""
        return _EX_TEMPFAIL if self.retryable else self._exit_code

    def _repr_html_(self) -> str:
        """The error for notebooks, where it is the value of a cell."""
        from dataaccess._display.failure import error_html

        return error_html(self)


class ConfigError(DataAccessError, ValueError):
    """Settings are invalid: base URL, CA file, token with line breaks, plain http.

    Attributes:
        problems: One line for each setting of a client that is invalid.
    """

    problems: list[str]

    _exit_code = 78


def _message_of(problems: list[Problem]) -> str:
    """The first problem, and which arguments have others: as the core writes it."""
    if not problems:
        return ""
    first, *others = problems
    names = list(dict.fromkeys(each.argument for each in others))
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return f"{first}; and {len(others)} more ({named})" if others else str(first)


class ValidationError(DataAccessError, ValueError):
    """A request breaks a rule of the API specification. Nothing was sent.

    The message is that of the first problem. If there are several, it counts the others and names their arguments, and
    the traceback lists all as notes of the exception.

    Attributes:
        problems: All problems of the request, each with its argument and path.

    Examples:
        >>> import dataaccess as da
        >>> try:
        ...     da.validate_codes(allocated_time=da.after("2024-01-01"), code_status=["sent", 7])
        ... except da.ValidationError as error:
        ...     print(error.problems[0].argument)
        code_status[1]
    """

    problems: list[Problem]

    _exit_code = 64

    _tree: list[Line] | None = None

    def __init__(self, message: str = "", **fields: Any) -> None:
        """Takes the fields of the class by name. The message of the problems needs not be given."""
        super().__init__(message or _message_of(fields.get("problems", [])), **fields)
        if len(self.problems) > 1:
            for problem in self.problems[:_SHOWN]:
                self.add_note(str(problem))
        if len(self.problems) > _SHOWN:
            self.add_note(f"and {len(self.problems) - _SHOWN} more, see .problems")

    def explain(self) -> str:
        """Returns the arguments of the request as a tree, with the problems at the values that are wrong.

        Notebooks and IPython show it below the traceback.

        Returns:
            Some lines for `print`.

        Examples:
            >>> import dataaccess as da
            >>> try:
            ...     da.validate_codes(allocated_time=da.after("2024-01-01"), code_status=["sent", 7])
            ... except da.ValidationError as error:
            ...     print(error.explain())
            ├─ allocated_time = after('2024-01-01')
            └─ code_status = ['sent', 7]
               └─ [1] = 7
                  ✗ 7 is not a value of code_status: 1 ("available"), 3 ("sent"), 4 ("used")
        """
        from dataaccess._display.tree import tree_text

        return tree_text(self._lines())

    def _set_arguments(self, arguments: Mapping[str, object], value_at: Callable[[list[str]], Any]) -> None:
        """Keeps the arguments of the request, as the lines of their tree."""
        from dataaccess._display.tree import tree

        self._tree = tree(arguments, self.problems, value_at)

    def _lines(self) -> list[Line]:
        """The lines of the tree; of the problems alone if the other arguments are not known."""
        from dataaccess._display.tree import tree

        return self._tree or tree({problem.argument: problem.value for problem in self.problems}, self.problems)

    def _repr_html_(self) -> str:
        """The tree for notebooks."""
        from dataaccess._display.failure import refusal_html

        return refusal_html(self, len(self.problems), self._lines())

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show of an exception that nothing catches."""
        from dataaccess._display.failure import ipython_traceback

        return ipython_traceback(self, self._lines())


class SandboxError(DataAccessError):
    """The sandbox cannot do what was requested."""

    _exit_code = 69


class ClientClosedError(DataAccessError, RuntimeError):
    """The client is closed."""


class ForkedHandleError(DataAccessError, RuntimeError):
    """A handle made before a fork cannot be used after it; make a new one in the child process."""


class InternalError(DataAccessError):
    """A bug in this package. Please report it; the client stays usable."""
