"""The base of all exceptions, and those that belong to no response: settings, arguments, handles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess.errors._text import arguments_in, marked, spelled, text_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar, Self

    from dataaccess._display.tree import Line
    from dataaccess.errors._problem import Problem
    from dataaccess.errors._text import Argument
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
        super().__init__(text_of(message))
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
            setattr(self, name, texts_of(fields.pop(name, empty.get(name))))
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

    @property
    def arguments(self) -> list[Argument]:
        """The arguments that the message names, in this order: first what is wrong, then what the hint advises."""
        return list(arguments_in(self._line))

    def spelled(self, spell: Callable[[Argument], str | None]) -> str:
        """Returns the message in the words of another front end, without the name of the call.

        Args:
            spell: Returns the spelling of an argument, such as `--timeout` or `[client] timeout`; None if the front end
                does not have it. Then a hint that advises it is left out.

        Examples:
            >>> import dataaccess as da
            >>> try:
            ...     da.Client("https://cdp.example.com", token="t", timeout=0)
            ... except da.ConfigError as error:
            ...     print(error.spelled(lambda argument: f"--{argument.name}"))
            --timeout must be more than 0 and at most 31622400 seconds (a year), not 0
        """
        line, hint = self._line.removeprefix(f"{self.operation}: "), marked(self.hint or "")
        if any(spell(argument) is None for argument in arguments_in(hint)):
            line = line.removesuffix(f"; {hint}")
        return spelled(line, spell)

    @property
    def _line(self) -> str:
        """The message with its marks."""
        return marked(self.args[0])

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

    @classmethod
    def of(cls, problems: list[str]) -> Self:
        """Returns the error for several invalid settings.

        Args:
            problems: One line for each.
        """
        if len(problems) == 1:
            return cls(marked(problems[0]), problems=problems)
        numbered = " ".join(f"({number}) {marked(line)}" for number, line in enumerate(problems, 1))
        return cls(f"{len(problems)} settings are invalid: {numbered}", problems=problems)


def _message_of(problems: list[Problem], operation: str | None) -> str:
    """The first problem, and which arguments have others."""
    if not problems:
        return ""
    first, *others = problems
    names = list(dict.fromkeys(each.argument for each in others))
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    line = f"{f'{operation}: ' if operation else ''}{first.argument}: {marked(first.message)}"
    return f"{line}; and {len(others)} more ({named})" if others else line


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
        super().__init__(message or _message_of(fields.get("problems", []), fields.get("operation")), **fields)
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
