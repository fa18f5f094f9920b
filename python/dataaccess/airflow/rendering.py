"""Templates and outputs of tasks at run time: a list is a list, and nothing is an error.

Airflow makes one string of a list, and "None" of nothing. A search for such a string finds no rows, and with native
rendering None is a search without a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jinja2

from dataaccess.airflow.compat import AirflowFailException
from dataaccess.airflow.condition import TEMPLATE_MARKS, is_output, listed, stated
from dataaccess.filters._values import snapshot

if TYPE_CHECKING:
    from airflow.sdk import Context

_ONE_EXPRESSION = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*\}\}", re.DOTALL)
# Arguments without which a search finds more rows.
_CONDITIONS = ("allocated_time", "audience_type", "allocated_audience", "code_status", "where")
_EMPTY_STRINGS = ("''", '""')


class Templated:
    """A mixin for operators: renders templates as Airflow does, but a list as a list."""

    template_ext: Sequence[str]

    @classmethod
    def partial(cls, **arguments: Any) -> Any:
        """Begins a mapped task, whose other arguments `.expand` takes."""
        known = {name: stated(name, value) for name, value in arguments.items()}
        return super().partial(**known)  # type: ignore[misc] # of Airflow

    def pre_execute(self, context: Context) -> None:
        """Refuses a mapped condition that is None, which is a search without it. Airflow calls it.

        Raises:
            AirflowFailException: A condition is None.
        """
        super().pre_execute(context)  # type: ignore[misc] # of Airflow
        if not getattr(self, "_BaseOperator__from_mapped", False):
            return
        # Airflow has the value of a mapped task at its creation, and renders it no more.
        for name, value in getattr(self, "_BaseOperator__init_kwargs", {}).items():
            if name in _CONDITIONS and value is None:
                raise AirflowFailException(f"{name} is None in this mapped task: map over conditions, or leave it out")

    def render_template(
        self,
        content: Any,
        context: Context,
        jinja_env: jinja2.Environment | None = None,
        seen_oids: set[int] | None = None,
    ) -> Any:
        """Renders a template, or resolves the output of a task. Airflow calls it.

        Raises:
            AirflowFailException: There is no value, or the text of a list cannot be read.
        """
        render = partial(super().render_template, content, context, seen_oids=seen_oids)  # type: ignore[misc] # of Airflow
        environment = jinja_env or self.get_template_env()  # type: ignore[attr-defined] # of Airflow
        if isinstance(content, str):
            if not any(mark in content for mark in TEMPLATE_MARKS) and not content.endswith(tuple(self.template_ext)):
                # Native rendering would make a number of digits.
                return content
            used = _Values(content, environment.finalize)
            return used.checked(render(jinja_env=environment.overlay(finalize=used.finalize)))
        rendered = render(jinja_env=environment)
        return _checked_output(content, rendered) if is_output(content) else rendered


class _Values:
    """The values of the expressions in one template."""

    def __init__(self, template: Any, given: Any) -> None:
        """Takes the template, and the function of the environment that sees each value."""
        self._template = template
        self._given = given
        self._values: list[Any] = []

    def finalize(self, value: Any) -> Any:
        """The value of an expression, as it is rendered."""
        value = value if self._given is None else self._given(value)
        if value is None or isinstance(value, jinja2.Undefined):
            raise AirflowFailException(f"{self._template}: an expression has no value, or None")
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            value = snapshot(value)
        self._values.append(value)
        return value

    def checked(self, rendered: Any) -> Any:
        """What the template renders: the value of its only expression, if that is a list or a dict."""
        if len(self._values) == 1 and _ONE_EXPRESSION.fullmatch(self._template):
            (only,) = self._values
            # Native rendering makes the number 100000.0 of the id "1e5".
            if isinstance(only, list | dict | str):
                rendered = str(only) if isinstance(only, str) else only
        if not isinstance(rendered, str):
            return rendered
        has_blank = any(isinstance(each, str) and not each.strip() for each in self._values)
        is_quoted = any(rendered.count(each) > self._template.count(each) for each in _EMPTY_STRINGS)
        if not rendered.strip() or (has_blank and is_quoted):
            raise AirflowFailException(f"{self._template}: this template renders an empty string")
        return _listed(self._template, rendered)


def _checked_output(output: Any, value: Any) -> Any:
    """The output of a task, or an argument of the DAG."""
    if value is None or (isinstance(value, str) and not value.strip()):
        names = " and ".join(sorted(_tasks_of(output))) or "the DAG"
        raise AirflowFailException(f"the output of {names} is {value!r}: return a value, or skip this task")
    if isinstance(value, str):
        return _listed(repr(output), value)
    # Of a mapped task, the sequence of its outputs.
    return snapshot(value) if isinstance(value, Sequence) else value


def _tasks_of(output: Any) -> set[str]:
    return {task.task_id for task, _ in output.iter_references()}


def _listed(origin: str, text: str) -> Any:
    try:
        return listed(text)
    except ValueError as error:
        raise AirflowFailException(f"{origin}: {error}") from None
