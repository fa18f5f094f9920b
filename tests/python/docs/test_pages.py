"""Links lead somewhere, and the tables of the pages are those of the code."""

from __future__ import annotations

import builtins
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.pages import PAGES, ROOT, anchors, table, without_blocks

import dataaccess as da
from dataaccess import _native, errors
from dataaccess._client.settings import SETTINGS

# Files whose comments and messages name a page, as `docs/service.md#21-envelope`.
SOURCES = [
    path
    for folder, ending in [("src", "*.rs"), ("python", "*.py"), ("tests", "*.py"), ("tests", "*.rs")]
    for path in sorted((ROOT / folder).rglob(ending))
]


def is_there(target: str, folder: Path, page: Path | None = None) -> bool:
    """Whether a relative link leads to a file, and to a heading of it if it names one."""
    name, _, anchor = target.partition("#")
    path = folder / name if name else page
    return path is not None and path.exists() and (not anchor or anchor in anchors(path))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_or_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", without_blocks(page))
    broken = [link for link in links if "://" not in link and not is_there(link, page.parent, page)]
    assert broken == []


def test_every_page_that_the_code_names_is_there() -> None:
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in SOURCES
        for name in re.findall(r"docs/[\w/-]+\.md(?:#[\w-]+)?", path.read_text(encoding="utf-8"))
    }
    assert named
    assert [each for each in sorted(named) if not is_there(each[1], ROOT)] == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_for_contributors_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:benches|docs|python|\.ci|src|tests)/[\w./-]+)`", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_public_name_is_in_the_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"^::: dataaccess\.(\w+)$", page, re.MULTILINE)}
    whole = {"errors": set(errors.__all__), "types": {"PROMOTION_CODE_ATTRIBUTES", "AudienceType", "CodeStatus"}}
    assert whole.keys() <= shown
    assert {*da.__all__, *da._HOMES} - set().union(*whole.values()) - {"__version__"} == shown - whole.keys()


CONFIGURATION = ROOT / "docs" / "configuration.md"


def test_every_argument_of_a_client_is_documented_with_its_default() -> None:
    defaults = {name: spec.default for name, spec in SETTINGS.items()}
    base_url = defaults.pop("base_url")
    defaults = {"base_url": base_url, "token": None, "profile": None, **defaults}
    rows = table(CONFIGURATION, "## Client arguments")
    assert [row[:2] for row in rows] == [[f"`{name}`", shown(default)] for name, default in defaults.items()]
    for name, _, meaning in rows:
        if (spec := SETTINGS.get(name.strip("`"))) is not None:
            plain = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", meaning).replace("`", "")
            assert plain.startswith(spec.help), name


def shown(default: Any) -> str:
    """A default as the table writes it."""
    whole = int(default) if isinstance(default, float) else default
    return f'`"{default}"`' if isinstance(default, str) else str(whole)


def test_every_environment_variable_is_documented() -> None:
    rows = table(CONFIGURATION, "## Environment variables")
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row[0])] == [
        "DATAACCESS_BASE_URL",
        "DATAACCESS_",
        "DATAACCESS_TOKEN",
        "DATAACCESS_TOKEN_FILE",
        "DATAACCESS_PROFILE",
        *_native.ENVIRONMENT,
        "XDG_CONFIG_HOME",
        "APPDATA",
    ]


ERRORS = ROOT / "docs" / "errors.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_exception_that_a_page_names_is_there(page: Path) -> None:
    named = {*re.findall(r"`([A-Z]\w+(?:Error|Warning))(?:`|\.)", page.read_text(encoding="utf-8"))}
    assert {name for name in named if not hasattr(errors, name) and not hasattr(builtins, name)} == set()


def test_every_warning_is_documented() -> None:
    reported = {row[0].strip("`") for row in table(ERRORS, "## Warnings")}
    classes = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, UserWarning)]
    assert reported == {each.__name__ for each in classes} - {"DataAccessWarning"}


VERSIONS = ROOT / "docs" / "versions.md"


def test_the_supported_versions_are_those_of_the_manifests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [re.findall(r"`([^`]+)`", " ".join(row)) for row in table(VERSIONS, "## Other packages")]
    extras = {
        name: [one.partition(";")[0] for one in needed] for name, needed in project["optional-dependencies"].items()
    }
    assert {name: packages for name, *packages in listed} == {name: extras[name] for name in extras if name != "all"}
    pythons = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    assert re.findall(r"3\.\d+", table(VERSIONS, "## Python and platforms")[0][1])[: len(pythons)] == pythons
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["rust-version"]
    assert f"Rust {rust} " in VERSIONS.read_text(encoding="utf-8")


# ARCHITECTURE.md: its tables agree with the code.


ARCHITECTURE = ROOT / "ARCHITECTURE.md"


def test_every_module_of_the_core_is_in_its_table() -> None:
    listed = [row[1].strip("`") for row in table(ARCHITECTURE, "## The modules of `src`")]
    assert sorted(listed) == sorted({path.stem for path in (ROOT / "src").iterdir()} - {"lib"})


def test_the_layers_of_the_package_are_those_of_import_linter() -> None:
    rows = table(ARCHITECTURE, "## The layers of the Python package")
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers, _ = pyproject["tool"]["importlinter"]["contracts"]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row[0])] == layers["layers"][::-1]


# Pages, docstrings and messages claim nothing of the service that is not in the API specification.


CLAIM = re.compile(r"\bthe (?:service|platform) (?:has no|counts|keeps|ignores|knows)\b|\bthe api has no\b")
# The time that is spent waiting for the service, which counts: no claim.
NO_CLAIM = "time spent waiting for the service counts"
CLAIMING = ["*.md", "docs/**/*.md", "examples/**/*.ipynb", "examples/**/*.py", "python/**/*.py", "src/**/*.rs"]


def test_no_sentence_claims_what_the_specification_does_not_say() -> None:
    paths = [path for pattern in [*CLAIMING, "src/**/*.html"] for path in ROOT.glob(pattern)]
    assert len(paths) > 200
    for path in paths:
        # Quotes, signs of comments and ends of lines interrupt no sentence.
        text = " ".join(re.findall(r"[a-z]+", path.read_text(encoding="utf-8").lower()))
        assert not CLAIM.search(text.replace(NO_CLAIM, "")), path
