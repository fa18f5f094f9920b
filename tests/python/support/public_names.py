"""The public Python names of the installed package with their signatures, one line for each name and parameter.

griffe reads the sources, as mkdocstrings does: the lines are the same with every version of Python, and the names that
need Spark or Airflow are among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import griffe

import dataaccess

SOURCES = Path(dataaccess.__file__).parents[1]
# `_types` has the types that signatures name.
MODULES = ("errors", "filters", "reports", "sandbox", "tokens", "types", "airflow", "spark", "_types")
# Private names, hooks of pytest, and methods that say how a class does what other methods are for.
HIDDEN = re.compile(
    r"_(?!_)|pytest_|__(?:all|slots|repr|str|reduce|getstate|setstate|getattr|getattribute|dir|del|init_subclass)__$"
)
KINDS = {"async", "classmethod", "staticmethod", "property", "writable"}
DECORATORS = {"contextmanager", "asynccontextmanager", "pytest.fixture"}
SIGNS = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}


def public_names() -> list[str]:
    """The lines, sorted by name; the parameters of a call keep their order."""
    loader = griffe.GriffeLoader(search_paths=[SOURCES])
    roots = {package: loader.load(package) for package in ("dataaccess", "pytest_dataaccess", "pyspark_dataaccess")}
    loader.resolve_aliases()
    objects = {path: found for package, root in roots.items() for path, found in _objects(package, root)}
    # The first path of an object is its usual one.
    usual = {found.path: path for path, found in reversed(objects.items())}
    lines: list[str] = []
    for path, found in sorted(objects.items()):
        other = usual[found.path]
        lines += _lines(path, found, usual) if other == path else [f"{path} = {other}"]
    return lines


def _objects(package: str, root: Any) -> Iterator[tuple[str, Any]]:
    """What a user imports, by path."""
    # `dataaccess` imports its names for type checkers alone; the other two packages define theirs.
    names = [name for name, one in root.members.items() if one.is_alias == (package == "dataaccess")]
    places = [(package, root, [name for name in names if name not in root.modules])]
    if package == "dataaccess":
        places += [(f"{package}.{module}", root[module], root[module].exports) for module in MODULES]
    elif root.exports:
        places = [(package, root, root.exports)]
    for place, module, exported in places:
        for name in map(str, exported):
            if not HIDDEN.match(name):
                yield f"{place}.{name}", _target(module.members[name])


def _target(found: Any) -> Any:
    return found.final_target if found.is_alias else found


def _lines(path: str, found: Any, usual: dict[str, str]) -> Iterator[str]:
    """The lines of an object, with those of its members."""
    if found.is_function:
        yield from _function(path, found)
    elif not found.is_class:
        yield f"{path}{_attribute(found)}"
    else:
        bases = [*_bases(found, usual), *(f"{name}={value}" for name, value in found.keywords.items())]
        yield f"{path}: class({', '.join(bases)})"
        for name, member in sorted(_members(found, usual).items()):
            if not HIDDEN.match(name) and (name != "__init__" or _is_made_by_users(found)):
                yield from _lines(f"{path}.{name}", member, usual)


def _is_made_by_users(found: griffe.Class) -> bool:
    """Whether its docstring describes the arguments of its constructor. Calls return objects of the other classes."""
    return found.docstring is not None and "\nArgs:\n" in found.docstring.value


def _parents(found: griffe.Class, usual: dict[str, str]) -> Iterator[tuple[str, griffe.Class | None]]:
    """Each base by name, and the class if it is a private one of this package."""
    for base in found.bases:
        name = str(base)
        try:
            parent = _target(found.modules_collection.get_member(getattr(base, "canonical_path", name)))
        except (KeyError, griffe.AliasResolutionError):
            yield name, None
            continue
        yield usual.get(parent.path, name), None if parent.path in usual else parent


def _bases(found: griffe.Class, usual: dict[str, str]) -> Iterator[str]:
    """The public and foreign bases of a class and of its private bases."""
    for name, private in _parents(found, usual):
        yield from [name] if private is None else _bases(private, usual)


def _members(found: griffe.Class, usual: dict[str, str]) -> dict[str, Any]:
    """The members of a class and of its private bases. Those of public bases have lines of their own."""
    inherited: dict[str, Any] = {}
    for _, private in _parents(found, usual):
        if private is not None:
            inherited = _members(private, usual) | inherited
    return inherited | found.members


def _function(path: str, found: griffe.Function) -> Iterator[str]:
    decorators = {str(each.value).partition("(")[0] for each in found.decorators}
    yield f"{path}() -> {found.returns}{_kinds(found.labels & KINDS | decorators & DECORATORS)}"
    if "pytest.fixture" not in decorators:
        yield from (f"{path}({_parameter(each)})" for each in found.parameters if each.name not in ("self", "cls"))


def _parameter(found: griffe.Parameter) -> str:
    sign = SIGNS.get(found.kind, "") if found.kind else ""
    default = "" if found.default is None or sign else f" = {found.default}"
    text = f"{sign}{found.name}: {found.annotation}{default}"
    if found.kind is griffe.ParameterKind.keyword_only:
        return f"*, {text}"
    return f"{text}, /" if found.kind is griffe.ParameterKind.positional_only else text


def _attribute(found: griffe.Attribute) -> str:
    """Its type; its value too if that is a type, a member of an enum or a constant of a class."""
    is_constant = str(found.annotation) == "TypeAlias" or "class-attribute" in found.labels
    annotation = "" if found.annotation is None else f": {found.annotation}"
    value = f" = {found.value}" if is_constant and found.value is not None else ""
    return f"{annotation}{value}{_kinds(found.labels & KINDS)}"


def _kinds(kinds: Iterable[str]) -> str:
    return f" [{', '.join(sorted(kinds))}]" if kinds else ""
