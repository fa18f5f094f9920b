"""The public surface: names, signatures, and what a user can hold in hand."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da
from dataaccess import _native, errors


def names(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


TWINS = [(da.Client, da.AsyncClient), (da.Scan, da.AsyncScan), (da.Task, da.AsyncTask), (da.Batches, da.AsyncBatches)]
# What waits for nothing.
IMMEDIATE = {"attributes", "batches", "explain", "iter_rows", "requests", "tasks", "with_options"}


def parameters(call: Any) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(call).parameters.values()
    return [(one.name, one.kind, one.default) for one in found]


@pytest.mark.parametrize(("kind", "other"), TWINS)
def test_both_kinds_have_the_same_names_parameters_and_defaults(kind: Any, other: Any) -> None:
    # polars does not await.
    shared = names(kind) - {"to_lazyframe"}
    assert names(other) - {"aclose"} == shared
    assert parameters(kind) == parameters(other)
    for name in shared:
        one, two = getattr(kind, name), getattr(other, name)
        assert callable(one) == callable(two)
        if callable(one):
            assert parameters(one) == parameters(two), name
            is_awaited = not name.startswith(("scan_", "validate_")) and name not in IMMEDIATE
            assert (inspect.iscoroutinefunction(one), inspect.iscoroutinefunction(two)) == (False, is_awaited), name
            assert inspect.getdoc(two), name


@pytest.mark.parametrize(
    "check",
    [
        partial(da.validate_codes, allocated_time=da.on("2024-01-15")),
        partial(da.validate_items, "customer", ["name"], da.col("opened").on("2024-01-15")),
    ],
    ids=["codes", "items"],
)
def test_checking_a_request_reads_no_environment(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"BASE_URL": "no address", "TIMEZONE": "Asia/Tokyo", "PROFILE": "absent"}.items():
        monkeypatch.setenv(f"DATAACCESS_{name}", text)
    assert check()["filters"]["OR"][0]["AND"][0]["value"] == 1_705_276_800_000


EVERYTHING = sorted({*da.__all__, *da._HOMES, *da.errors.__all__} - {"__version__"})


@pytest.mark.parametrize("name", [name for name in EVERYTHING if not name.isupper()])  # constants have no module
def test_public_objects_are_of_the_package_whichever_module_defines_them(name: str) -> None:
    value = getattr(da, name)
    assert value.__module__ == "dataaccess"
    assert pickle.loads(pickle.dumps(value)) is value
    assert pickle.dumps(value).count(b"dataaccess._") == 0


def test_type_checkers_see_every_name() -> None:
    tree = ast.parse(Path(da.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = [alias for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    seen = {alias.asname or alias.name for alias in imported}
    assert seen == {*da._HOMES, *da._PUBLIC, "__version__", "*"}


def test_the_version_is_that_of_the_manifest() -> None:
    manifest = tomllib.loads((Path(__file__).parents[3] / "Cargo.toml").read_text(encoding="utf-8"))
    assert da.__version__ == manifest["package"]["version"]


HOOKS = {"panic_for_test", "set_buffered_bytes", "set_now", "set_time_scale", "set_values_per_request"}


def test_every_native_name_is_used() -> None:
    sources = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(da.__file__).parent.rglob("*.py")]
    imports = [node for source in sources for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    used = {alias.name for node in imports if node.module == "dataaccess._native" for alias in node.names}
    assert {name for name in dir(_native) if not name.startswith("__")} - {"ERROR_CLASSES", *HOOKS} == used


def test_every_kind_of_the_core_has_a_class() -> None:
    assert _native.ERROR_CLASSES
    assert set(_native.ERROR_CLASSES) <= set(da.errors.__all__)
    assert [name for name in _native.ERROR_CLASSES if not issubclass(getattr(da, name), da.DataAccessError)] == []


@pytest.mark.fault("P14")
def test_importing_starts_nothing() -> None:
    code = (
        "import sys, threading, dataaccess; "
        "[getattr(dataaccess, name) for name in {*dataaccess.__all__, *dataaccess._HOMES}]; "
        "assert 'dataaccess._native' in sys.modules; "
        "heavy = {'pandas', 'numpy', 'asyncio', 'polars', 'pyarrow', 'airflow', 'pytest'} & set(sys.modules); "
        "assert not heavy, heavy; assert threading.active_count() == 1; "
        "import os; print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1); "
        "links = ['/proc/self/fd/' + number for number in os.listdir('/proc/self/fd')] if os.name == 'posix' else []; "
        "opened = [os.readlink(link) for link in links if os.path.lexists(link)]; "
        "assert not [name for name in opened if 'socket' in name or 'eventpoll' in name], opened"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "1"


def test_clients_and_sandboxes_show_their_address(sandbox: da.Sandbox) -> None:
    assert repr(sandbox.client()) == f"Client('{sandbox.base_url}', token from text)"
    assert repr(sandbox) == f"Sandbox('{sandbox.base_url}')"


def test_synthetic_data_is_reported_once_a_process() -> None:
    code = (
        "import warnings, dataaccess as da\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    one = da.Client('sandbox:demo'); two = da.AsyncClient('sandbox:demo')\n"
        "assert [w.category for w in caught] == [da.SandboxWarning], caught\n"
        "assert caught[0].filename == '<string>', caught[0].filename\n"
        "assert one.is_sandbox and two.is_sandbox and one.base_url == two.base_url\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("end", ["stopped", "dropped"])
def test_an_address_is_of_a_sandbox_only_while_it_runs(end: str) -> None:
    service = da.Sandbox()
    address = service.base_url
    client = da.Client(address, token=service.issue_token())
    assert client.is_sandbox
    if end == "stopped":
        service.stop()
    else:
        del service
    # Another service may have the port by now.
    assert not da.Client(address, token="tok").is_sandbox
    assert client.is_sandbox


CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, (da.DataAccessError, da.DataAccessWarning))
]


def test_the_tree_is_as_drawn() -> None:
    """The tree at the top of the file: each class with its bases, and each error with the fields that it adds."""
    above: list[str] = []
    drawn: dict[str, tuple[set[str], list[str]]] = {}
    for line in inspect.getdoc(errors).splitlines():  # type: ignore[union-attr]
        match = re.fullmatch(r"    ([│├└─ ]*)(\w+(?:Error|Warning))(?: \((\w+)\))? *(.*)", line)
        if match:
            indent, name, builtin, fields = match.groups()
            del above[len(indent) // 3 :]
            drawn[name] = {*above[-1:], *([builtin] if builtin else [])} or {"Exception"}, fields.split()
            above.append(name)
    assert set(drawn) == {kind.__name__ for kind in CLASSES}
    for kind in CLASSES:
        bases, fields = drawn[kind.__name__]
        assert {base.__name__ for base in kind.__bases__} == bases
        if issubclass(kind, da.DataAccessError):
            assert [name for name in inspect.get_annotations(kind) if not name.startswith("_")] == fields


@pytest.mark.parametrize(("reason", "code"), [("mismatch", 64), ("corrupt", 65), ("unusable", 74), (None, 74)])
def test_the_exit_code_of_a_folder_follows_from_the_reason(reason: str | None, code: int) -> None:
    assert da.FolderError("text", reason=reason).exit_code == code
    assert da.FolderError("text", reason=reason, retryable=True).exit_code == 75
