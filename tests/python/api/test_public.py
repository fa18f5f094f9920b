"""The public surface: names, signatures, and what a user can hold in hand."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da
from dataaccess import AsyncBatches, Batches, _native

SCANS = ["scan_codes", "scan_items"]
CALLS = ["search_codes", "search_items", "download_segment", "wait_for_segment"]
CHECKS = ["validate_codes", "validate_items"]


def arguments_of(call: Any) -> str:
    """The part of a docstring on arguments, results and errors."""
    text = message_of(call)
    return text[text.index("Args:") :]


@pytest.mark.parametrize("name", [*CALLS, "post"])
def test_both_clients_have_the_same_call(name: str) -> None:
    one, other = getattr(da.Client, name), getattr(da.AsyncClient, name)
    assert inspect.signature(one) == inspect.signature(other)
    assert arguments_of(one) == arguments_of(other)
    assert inspect.iscoroutinefunction(other)
    assert not inspect.iscoroutinefunction(one)


@pytest.mark.parametrize("name", SCANS)
def test_both_clients_make_scans_of_the_same_arguments(name: str) -> None:
    one, other = getattr(da.Client, name), getattr(da.AsyncClient, name)
    assert inspect.signature(one).parameters == inspect.signature(other).parameters
    assert arguments_of(one) == arguments_of(other)
    search = inspect.signature(getattr(da.Client, name.replace("scan", "search"))).parameters
    more = {"on_suspected_cap", "schema", "values_per_request", "ordered"}
    more |= {"decode_status"} if name == "scan_codes" else set()
    assert inspect.signature(one).parameters.keys() - search.keys() == more


READINGS = ["head", "collect", "to_arrow", "to_pandas", "to_polars", "to_dicts", "to_pylist"]
SHOWN = ["explain", "requests", "column_names", "schema", "last_stats"]
USES = [*READINGS, "read_folder", "to_parquet", "to_csv", "to_jsonl", "to_folder"]


@pytest.mark.parametrize("name", [*USES, "count", "batches", "tasks", "explain", "requests"])
def test_both_kinds_of_scan_have_the_same_uses(name: str) -> None:
    check_twins(da.Scan, da.AsyncScan, name)


@pytest.mark.parametrize("name", [*READINGS, "batches", "explain"])
def test_both_kinds_of_task_have_the_same_uses(name: str) -> None:
    check_twins(da.Task, da.AsyncTask, name)


def check_twins(kind: type, asynchronous: type, name: str) -> None:
    one, other = getattr(kind, name), getattr(asynchronous, name)
    assert inspect.signature(one).parameters == inspect.signature(other).parameters
    assert message_of(one) == message_of(other) != ""
    assert inspect.iscoroutinefunction(other) == (name in {*USES, "count"})
    assert not inspect.iscoroutinefunction(one)


def message_of(call: Any) -> str:
    """A docstring up to its example, in the words of the synchronous half."""
    text = " ".join((inspect.getdoc(call) or "").partition("Examples:")[0].split())
    for asynchronous, synchronous in WORDS.items():
        text = text.replace(asynchronous, synchronous)
    return text


WORDS = {
    "An asynchronous iterator": "An iterator",
    "`async with`": "`with`",
    "`AsyncTask`": "`Task`",
    "in the thread of the event loop": "in the calling thread",
}


def names(kind: type) -> set[str]:
    # Airflow calls `serialize` for a value that goes to XCom.
    return {name for name in dir(kind) if not name.startswith("_")} - {"serialize"}


def test_what_comes_of_scans_has_no_other_names() -> None:
    # polars does not await.
    assert (
        names(da.Scan) - {"to_lazyframe", "explain_query"}
        == names(da.AsyncScan)
        == {*USES, *SHOWN, "batches", "iter_rows", "tasks", "count"}
    )
    writings = {"to_csv", "to_jsonl", "to_parquet"}
    assert names(da.Task) == names(da.AsyncTask) == {*READINGS, *SHOWN, *writings, "batches", "iter_rows", "count"}
    # As asynchronous generators have it beside their own.
    assert names(Batches) | {"aclose"} == names(AsyncBatches)
    forms = {"to_arrow", "to_pylist", "to_dicts", "to_pandas", "to_polars"}
    forms |= {"num_rows", "column_names", "columns", "shape", "schema"}
    assert names(da.Batch) == forms
    assert names(da.Table) == forms | {"stats", "head", "missing_ids", *writings}


def test_the_clients_have_no_other_names() -> None:
    assert names(da.Client) | {"aclose"} == names(da.AsyncClient)
    assert inspect.signature(da.Client) == inspect.signature(da.AsyncClient)


@pytest.mark.parametrize("name", [*CALLS, *SCANS, *CHECKS])
def test_the_functions_of_the_module_take_the_same_and_a_client(name: str) -> None:
    method = list(inspect.signature(getattr(da.Client, name)).parameters.values())[1:]
    *rest, client = inspect.signature(getattr(da, name)).parameters.values()
    assert rest == method
    assert (client.name, client.default) == ("client", None)


EVERYTHING = sorted({*da.__all__, *da._HOMES, *da.errors.__all__} - {"__version__"})


def test_what_users_type_is_shown_and_sorted() -> None:
    constants = [name for name in da.__all__ if name.isupper()]
    assert da.__all__ == constants + sorted({*da.__all__} - {*constants})
    assert len(da.__all__) <= 32
    assert set(da.__all__) - {"__version__"} <= set(da._HOMES)
    kept = {name for name, value in vars(da).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert kept <= {*EVERYTHING, "PROMOTION_CODE_ATTRIBUTES"}


def test_no_other_name_is_found() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'serach_codes'"):
        da.serach_codes  # type: ignore[attr-defined]  # noqa: B018
    assert not [name for name in ("scan", "client", "post") if hasattr(da, name)]


@pytest.mark.parametrize("name", [name for name in EVERYTHING if not name.isupper()])  # constants have no module
def test_public_objects_are_of_the_package_whichever_module_defines_them(name: str) -> None:
    value = getattr(da, name)
    assert value.__module__ == "dataaccess"
    assert pickle.loads(pickle.dumps(value)) is value
    assert pickle.dumps(value).count(b"dataaccess._") == 0


def test_type_checkers_see_every_name() -> None:
    tree = ast.parse(Path(da.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == {*da._HOMES, *da._PUBLIC, "__version__", "*"}


def test_the_synchronous_classes_and_the_functions_are_generated_from_the_asynchronous_classes() -> None:
    script = Path(__file__).parents[3] / ".ci" / "generate_sync.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


def test_the_generator_fails_where_nothing_is_left_to_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(__file__).parents[3] / ".ci" / "generate_sync.py"
    spec = importlib.util.spec_from_file_location("generate_sync", path)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setitem(script.REPLACED, "a sentence that was edited", "another one")
    with pytest.raises(SystemExit, match=r"a sentence that was edited$"):
        script.generated()


def test_the_version_is_that_of_the_manifest() -> None:
    manifest = tomllib.loads((Path(__file__).parents[3] / "Cargo.toml").read_text(encoding="utf-8"))
    assert da.__version__ == manifest["package"]["version"]


FOR_TESTS = {"ERROR_CLASSES", "panic_for_test", "set_buffered_bytes", "set_now", "set_time_scale"}


def test_every_native_name_is_used() -> None:
    sources = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(da.__file__).parent.rglob("*.py")]
    imports = [node for source in sources for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
    used = {alias.name for node in imports if node.module == "dataaccess._native" for alias in node.names}
    assert {name for name in dir(_native) if not name.startswith("__")} - FOR_TESTS == used


def test_every_kind_of_the_core_has_a_class() -> None:
    assert _native.ERROR_CLASSES
    assert set(_native.ERROR_CLASSES) <= set(da.errors.__all__)
    assert [name for name in _native.ERROR_CLASSES if not issubclass(getattr(da, name), da.DataAccessError)] == []


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


def test_what_is_held_shows_itself_and_travels_or_says_why_not(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    assert repr(client) == f"Client('{sandbox.base_url}', token from text)"
    assert repr(sandbox) == f"Sandbox('{sandbox.base_url}')"
    with pytest.raises(TypeError, match="DATAACCESS_TOKEN"):
        pickle.dumps(client)
    with pytest.raises(TypeError, match="base_url"):
        pickle.dumps(sandbox)


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


def test_a_real_address_is_no_sandbox() -> None:
    assert not da.Client("https://cdp.example.com", token="tok").is_sandbox


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
