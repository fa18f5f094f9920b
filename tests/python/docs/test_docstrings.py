"""Every public name has a docstring, every docstring of a call an example, and every example runs."""

from __future__ import annotations

import ast
import asyncio
import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

import dataaccess as da

# Modules that import a package which only the environment of their tests has; those tests run their examples.
ELSEWHERE = ("dataaccess.airflow.", "dataaccess.spark._source")
MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(da.__path__, "dataaccess.")
    if not module.name.endswith("._native") and not module.name.startswith(ELSEWHERE)
]
FINDER = doctest.DocTestFinder(exclude_empty=True)


def examples(module: ModuleType) -> Iterator[doctest.DocTest]:
    """The examples of what a module defines. Public objects say that they are of the package, so names are read."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            defined = getattr(module, node.name)
            yield from FINDER.find(defined, f"{module.__name__}.{node.name}", module=False, globs=dict(vars(module)))


EXAMPLES = [example for module in [da, *MODULES] for example in examples(module) if example.examples]


def public() -> list[Any]:
    """The public names, and the public methods of the classes among them."""
    names: list[Any] = []
    for name in sorted({*da.__all__, *da._HOMES, *da.errors.__all__}):
        value = getattr(da, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            names.append(pytest.param(value, id=name))
        if inspect.isclass(value) and not issubclass(value, Exception):
            names += [
                pytest.param(method, id=f"{name}.{part}")
                for part, method in inspect.getmembers(value, callable)
                if not part.startswith("_")
            ]
    return names


@pytest.mark.parametrize("value", public())
def test_everything_public_is_documented(value: Any) -> None:
    text = inspect.getdoc(value)
    assert text
    # The asynchronous classes name the synchronous ones, which have the documentation.
    if inspect.isfunction(value) and not value.__qualname__.startswith("Async"):
        assert "Examples:" in text
        common = common_arguments() if value.__qualname__.startswith("Scan.") else set()
        if inspect.signature(value).parameters.keys() - common - {"self"}:
            assert "Args:" in text


def common_arguments() -> set[str]:
    """The arguments of several methods of a scan, which its class documents."""
    text = str(inspect.getdoc(da.Scan)).partition("Common arguments:\n")[2].partition("\n\n")[0]
    return {line.partition(":")[0].strip() for line in text.splitlines() if line.startswith("    ") and line[4] != " "}


class OfEachPandas(doctest.OutputChecker):
    """Takes the name that pandas 2 has for strings for that of pandas 3."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return any(
            super(OfEachPandas, self).check_output(want, one, optionflags)
            for one in (got, got.replace("'string'", "'str'"))
        )


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning", "ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_example_runs(example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    report: list[str] = []
    runner = doctest.DocTestRunner(OfEachPandas(), optionflags=doctest.ELLIPSIS)
    with asyncio.Runner() as loop:

        def execute(code: CodeType, variables: dict[str, Any]) -> None:
            result = eval(code, variables)
            if inspect.iscoroutine(result):
                loop.run(result)

        # Examples of `AsyncClient` await at their top, as one does in IPython and in `python -m asyncio`.
        monkeypatch.setattr(doctest, "exec", execute, raising=False)
        outcome = runner.run(example, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, report.append)
    assert outcome.attempted
    assert outcome.failed == 0, "".join(report)
